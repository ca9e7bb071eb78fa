import Testing

@testable import SourceAccess

@Suite("Which samples are pictures")
struct SampleVisibilityTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var codec: String
        var bytes: [UInt8]
        var isPicture: Bool
    }

    /// A Dirac data unit: parse code, distance to the next, and to the one before.
    private static func unit(_ code: UInt8, next: UInt8, content: Int = 0) -> [UInt8] {
        Array("BBCD".utf8) + [code, 0, 0, 0, next, 0, 0, 0, 13] + [UInt8](repeating: 1, count: content)
    }

    static let cases = [
        Case(testDescription: "a Theora picture", codec: "theora", bytes: [0x31, 2, 3], isPicture: true),
        Case(
            testDescription: "a Theora header", codec: "theora", bytes: [0x81] + Array("theora".utf8), isPicture: false),
        Case(
            testDescription: "the end of a Dirac sequence", codec: "dirac", bytes: unit(0x10, next: 0), isPicture: false
        ),
        Case(
            testDescription: "a Dirac picture behind a sequence header", codec: "dirac",
            bytes: unit(0x00, next: 20, content: 7) + unit(0xE8, next: 0, content: 9), isPicture: true),
        Case(testDescription: "what is no Dirac", codec: "dirac", bytes: [1, 2, 3, 4], isPicture: true),
    ]

    @Test("Headers alone are no pictures", arguments: cases)
    func pictures(_ wanted: Case) {
        #expect(wanted.bytes.withUnsafeBytes { SampleVisibility.holdsPicture(wanted.codec, $0) } == wanted.isPicture)
    }
}
