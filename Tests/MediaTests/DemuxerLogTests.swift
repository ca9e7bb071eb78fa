import Support
import Testing

@testable import Media

@Suite struct DemuxerLogTests {
    private static func failure(of bytes: [UInt8], _ name: String, in folder: ScratchFolder) throws -> MediaError {
        let path = try folder.write(bytes, to: name)
        return try #require(throws: MediaError.self) { try Demuxer(location: path) }
    }

    @Test("What a failure quotes is about its own input, not about the one before on the same thread")
    func quotes() throws {
        let folder = try ScratchFolder()
        // A file type box and nothing else.
        let header: [UInt8] = [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 2, 0]
        let first = try Self.failure(of: header, "headless.mp4", in: folder)
        #expect(first.log.contains { $0.contains("moov atom not found") }, "\(first)")
        let second = try Self.failure(of: Array("hello".utf8), "words", in: folder)
        #expect(!second.log.contains { $0.contains("moov") }, "\(second)")
    }
}
