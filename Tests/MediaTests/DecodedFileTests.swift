import Foundation
import MediaTime
import Testing

@testable import Media

/// What the `ffmpeg` program decodes from a file in one pass is the judge.
@Suite struct DecodedFileTests {
    private static let files = [
        "mp4parser--foreman-hevc-384.mp4", "media--iibbibb_editlist_videoonly.mp4",
        "media--sample_edit_list_no_sync_frame_before_edit.mp4", "firefox-esr--bug1718709_high_res.mp4",
        "tsduck-test--test-025.ts", "firefox-esr--640x480_seg1.ts", "firefox-esr--pixel_aspect_ratio.mp4",
        "ExoPlayer--video_desks.3gp", "caption-inspector--BigBuckBunny_160x90-24fps.mov",
        "media--roadtrip-vp92-10bit.webm", "firefox-esr--400x300-red-resize-200x150-green.mp4",
        "media--trim_optimization_failure.mp4", "lpms--test-22f15f0.flv", "hdr10plus_tool--regular.mkv",
        "firefox-esr--resolution-change.webm", "torchcodec--var_fps_video-529b040.mp4",
        "media--sample_with_chapters.mp4",
    ]

    @Test("Every file gives the frames that ffmpeg gives, at the same times", arguments: files, [1, 3])
    func countsAndTimes(file: String, threads: Int) throws {
        guard let path = ContainerFixtures.path(file), let expected = try Self.judge(path) else { return }
        let demuxer = try Demuxer(location: path)
        let track = try #require(demuxer.tracks.first { $0.mediaType == .video })
        demuxer.select(tracks: [track.index])
        let session = try DecompressionSession(
            format: track.format, timeBase: track.timeBase, settings: .init(threads: threads))
        var times: [Int64?] = []
        var guesses: [Int64?] = []
        let receive = { (frame: Frame) throws(MediaError) in
            times.append(frame.pts)
            guesses.append(frame.bestEffortPTS)
        }
        while let sample = try demuxer.readSample() {
            do throws(MediaError) {
                try session.decode(sample, output: receive)
            } catch {
                #expect(error.reason == .invalidData)
            }
        }
        try session.finish(output: receive)
        guard file != "firefox-esr--pixel_aspect_ratio.mp4" else {
            // Decoding times stand where presentation times should: no composition offsets in spite of B pictures. The program
            // guesses, and shifts the last picture besides.
            #expect(guesses.dropLast() == expected.dropLast())
            #expect(guesses.count == expected.count)
            return
        }
        #expect(times == expected)
        #expect(guesses == expected)
    }

    /// - Returns: the presentation times of the decoded pictures in the track's unit, `nil` without the program.
    private static func judge(_ path: String) throws -> [Int64?]? {
        let program = "/usr/bin/ffmpeg"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            print("skipped: no ffmpeg program to compare with")
            return nil
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        // Strict, as the session is: libavcodec's guess at how far H.264 reorders drops pictures otherwise.
        process.arguments = [
            "-v", "quiet", "-copyts", "-noautorotate", "-threads", "1", "-strict", "strict", "-i", path, "-map",
            "0:v:0", "-fps_mode",
            "passthrough", "-enc_time_base", "-1", "-vf", "scale=16:16", "-f", "framecrc", "-",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let columns = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return columns.count > 2 ? Int64(columns[2]) : nil
        }
    }
}
