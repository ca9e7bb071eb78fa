import ClusterProtocol
import Foundation
import Support
import Testing

@testable import SourceAccess

@Suite("Fingerprint of a source")
struct FingerprintTests {
    private func hash(_ path: String) throws -> String { try SourceReference.Fingerprint.of(path: path).hash }

    @Test(
        "Equal bytes have equal fingerprints, whatever their name",
        arguments: [0, 1, 65_535, 65_536, 65_537, 3_000_000])
    func equal(size: Int) throws {
        let folder = try ScratchFolder()
        var random = SeededRandom(seed: UInt64(size))
        let bytes = random.bytes(size)
        let one = try folder.write(bytes, to: "a")
        let other = try folder.write(bytes, to: "b")
        #expect(try hash(one) == hash(other))
        #expect(try SourceReference.Fingerprint.of(path: one).size == Int64(size))
    }

    @Test(
        "A byte altered at the head, at the tail or anywhere in a small file is seen",
        arguments: 0..<30 as Range<UInt64>)
    func altered(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try ScratchFolder()
        var bytes = random.bytes(seed % 3 == 0 ? 400_000 : 2_000_000)
        let before = try hash(folder.write(bytes, to: "a"))
        let place =
            switch seed % 3 {
            case 0: Int.random(in: 0..<bytes.count, using: &random)
            case 1: Int.random(in: 0..<65_536, using: &random)
            default: Int.random(in: bytes.count - 65_536..<bytes.count, using: &random)
            }
        bytes[place] ^= 1
        #expect(try hash(folder.write(bytes, to: "b")) != before, "seed \(seed), byte \(place)")
    }

    @Test("Files of zeros of different length differ")
    func length() throws {
        let folder = try ScratchFolder()
        let short = try folder.write([UInt8](repeating: 0, count: 1_000_000), to: "a")
        let long = try folder.write([UInt8](repeating: 0, count: 1_000_001), to: "b")
        #expect(try hash(short) != hash(long))
    }

    @Test("A file that another copy replaces keeps its hash and shows the new time")
    func modified() throws {
        let folder = try ScratchFolder()
        let path = try folder.write([1, 2, 3], to: "a")
        let before = try SourceReference.Fingerprint.of(path: path)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
        let after = try SourceReference.Fingerprint.of(path: path)
        #expect(after.hash == before.hash && after.modified == 1_000_000_000_000_000)
    }

    @Test("What cannot be read says so with the exit code of the case")
    func unreadable() throws {
        let folder = try ScratchFolder()
        let missing = #expect(throws: Failure.self) { try hash(folder.file("none")) }
        #expect(missing?.exitCode == .noSource && missing?.boundary == .asset)
        let directory = #expect(throws: Failure.self) { try hash(folder.path) }
        #expect(directory?.exitCode == .noSource && directory?.code == EISDIR)
        let through = #expect(throws: Failure.self) { try hash(folder.write([1], to: "a") + "/b") }
        #expect(through?.exitCode == .noSource)
    }
}
