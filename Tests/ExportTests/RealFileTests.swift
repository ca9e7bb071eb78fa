internal import Foundation
internal import Testing
internal import Support

/// Real, awkward files: the output holds the pictures that one pass of ffmpeg's decoder shows, at their times.
@Suite("Real files", .serialized)
struct RealFileTests {
    private enum Expectation {
        /// As ffmpeg decodes it.
        case equal
        /// The count alone is compared: why.
        case count(Int, why: String)
        case refusal(Int32)
        /// Too long for every run of the tests: the first seconds.
        case beginning(Double)
    }

    private static func expectation(_ name: String) -> Expectation? {
        switch name {
        case "shaka-player--video.mp4": .refusal(65)
        case "jcodec--test.mkv": .count(1, why: "the file is cut off after its first picture")
        case "firefox-esr--bug1718709_high_res.mp4":
            .count(
                150,
                why:
                    "ffmpeg guesses the reorder depth too low and drops two intact pictures; `-strict strict` shows 150"
            )
        case "firefox-esr--pixel_aspect_ratio.mp4":
            .count(
                712, why: "the container has no presentation times; ffmpeg's guesses depend on its decoder's delay")
        case "shaka-player--hls-multivideo_red12.ts":
            .count(240, why: "the source's clock starts again half-way, which the output unrolls into one time line")
        case "firefox-esr--movie_300.mp4": .beginning(10)
        // 4K in ten bits: minutes on a small machine.
        case "firefox-esr--TestPatternHDR.mp4": .beginning(0.5)
        default: .equal
        }
    }

    /// H.264 carries no dynamic HDR metadata, which an export stops for unless the loss is accepted.
    private static let dynamicMetadata: Set = [
        "dovi_tool--regular.mkv", "hdr10plus_tool--regular.mkv",
        "media--sample_edit_list_no_sync_frame_before_edit.mp4",
    ]

    static var names: [String] {
        guard let folder = RealMedia.folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        else {
            print("skipped: no folder of real media (set WEFT_MEDIA)")
            return []
        }
        return names.filter { !$0.hasPrefix(".") && !$0.hasSuffix(".tsv") && !$0.hasSuffix(".md") }.sorted()
    }

    @Test("a real file keeps every picture that can be decoded, at its time", arguments: names)
    func isExact(_ name: String) throws {
        guard let folder = RealMedia.folder, let expectation = Self.expectation(name) else { return }
        let workplace = try Workplace()
        let source = Judge(path: folder + "/" + name)
        var options = ["--video-codec", "h264", "--encoder-option", "preset=ultrafast"]
        if Self.dynamicMetadata.contains(name) { options += ["--allow-loss", "hdr10plus,dolby-vision"] }
        if case .beginning(let seconds) = expectation { options += ["--end", "\(seconds)"] }
        let (report, errors) = try workplace.export(source.path, "out.mp4", options)
        if case .refusal(let status) = expectation {
            #expect(report == nil && errors.hasPrefix("exit \(status):"))
            return
        }
        #expect(try #require(report, "\(errors)").proof.pass)
        let stored = try Judge(path: workplace.file("out.mp4")).storedPictures()
        #expect(stored.decodeTimesRise)
        switch expectation {
        case .count(let count, _): #expect(stored.times.times.count == count)
        case .beginning(let seconds):
            let all = try source.storedPictures().times
            let first = all.times.first ?? 0
            let part = Judge.Times(times: all.times.filter { $0 - first < seconds }, tick: all.tick)
            #expect(stored.times.difference(from: part) == nil)
        default: #expect(stored.times.difference(from: try source.shownPictures()) == nil)
        }
    }
}
