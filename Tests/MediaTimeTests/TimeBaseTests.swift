import Foundation
import MediaTime
import Testing

@Suite struct TimeBaseTests {
    @Test("a common timescale holds every track exactly")
    func common() {
        #expect(TimeBase.commonTimescale(of: [48000, 90000] as [Int32]) == 720_000)
        #expect(TimeBase.commonTimescale(of: [30000, 44100] as [Int32]) == 4_410_000)
        #expect(TimeBase.commonTimescale(of: [Int32]()) == 1)
    }

    @Test("a common timescale above the limit, or of no timescale, does not exist")
    func noCommon() {
        #expect(TimeBase.commonTimescale(of: [48000, 90000] as [Int32], limit: 719_999) == nil)
        #expect(TimeBase.commonTimescale(of: [.max, .max - 1] as [Int32]) == nil)
        #expect(TimeBase.commonTimescale(of: [0] as [Int32]) == nil)
        #expect(TimeBase.commonTimescale(of: [-4, 4] as [Int32]) == nil)
        #expect(TimeBase.commonTimescale(of: [Int32](), limit: 0) == nil)
    }

    @Test("the common timescale of time bases goes by their lowest terms")
    func ofTimeBases() throws {
        let frames = try #require(TimeBase(numerator: 1001, denominator: 30000))
        let double = try #require(TimeBase(numerator: 2, denominator: 96000))
        #expect(TimeBase.commonTimescale(of: [frames, double]) == 240_000)
        let common = try #require(TimeBase(numerator: 1, denominator: 240_000))
        #expect(frames.isExact(in: common) && double.isExact(in: common))
    }

    @Test(
        "a time base from outside must be positive",
        arguments: [
            #"{"numerator":1,"denominator":0}"#,
            #"{"numerator":-1,"denominator":2}"#, #"{"numerator":1}"#, #"{"numerator":1,"denominator":3000000000}"#,
        ])
    func decodeRefuses(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(TimeBase.self, from: Data(json.utf8)) }
    }

    @Test("a time base survives JSON")
    func codable() throws {
        let base = try #require(TimeBase(numerator: 1001, denominator: 30000))
        #expect(try JSONDecoder().decode(TimeBase.self, from: JSONEncoder().encode(base)) == base)
    }
}
