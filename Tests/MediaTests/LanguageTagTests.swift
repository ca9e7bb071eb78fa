import Support
import Testing

@testable import Media

@Suite struct LanguageTagTests {
    private func clip(_ path: String) throws -> Bool {
        try FFmpegProgram.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.2", "-f", "lavfi", "-i", "sine=d=0.2", "-c:v", "libx264", path])
    }

    @Test("Matroska's LanguageBCP47 is read, of the track that has it")
    func matroska() throws {
        let scratch = try ScratchFolder()
        let path = scratch.file("a.mkv")
        guard try clip(path), try MatroskaProperties.set(["language-ietf": "pt-BR"], track: "a1", of: path) else {
            return
        }
        let demuxer = try Demuxer(location: path)
        #expect(try demuxer.languageTag(ofTrack: 1) == "pt-BR")
        #expect(try demuxer.languageTag(ofTrack: 0) != "pt-BR")
    }

    @Test("A movie's extended language is read")
    func movie() throws {
        let scratch = try ScratchFolder()
        let path = scratch.file("a.mp4")
        guard try clip(path) else { return }
        let tag: [UInt8] = [0, 0, 0, 20] + Array("elng".utf8) + [0, 0, 0, 0] + Array("zh-Hant".utf8) + [0]
        let movie = try #require(MovieBox.insert(tag, into: try readBytes(path), at: ["trak", "mdia"]))
        let changed = try scratch.write(movie, to: "b.mp4")
        #expect(try Demuxer(location: changed).languageTag(ofTrack: 0) == "zh-Hant")
        #expect(try Demuxer(location: changed).languageTag(ofTrack: 1) == nil)
    }

    @Test("What is no language is none")
    func nonsense() {
        #expect(LanguageTag.text(Array("sr-Latn-RS".utf8) + [0, 65]) == "sr-Latn-RS")
        #expect(LanguageTag.text([]) == nil && LanguageTag.text([0]) == nil)
        #expect(LanguageTag.text(Array("a b".utf8)) == nil && LanguageTag.text([0xC3, 0xA4]) == nil)
        #expect(LanguageTag.text([UInt8](repeating: 65, count: 64)) == nil)
    }
}
