internal import Foundation

/// What ffprobe says of a file: an opinion that nothing of ours has a part in.
struct Judge {
    let path: String

    private struct Answer: Decodable {
        struct Stream: Decodable {
            var time_base: String
            var sample_rate: String?
        }
        struct Entry: Decodable {
            var pts: Int64?
            var dts: Int64?
            var flags: String?
            var best_effort_timestamp: Int64?
            var nb_samples: Int?
        }
        var streams: [Stream]?
        var packets: [Entry]?
        var frames: [Entry]?
    }

    private func ask(_ track: String, _ entries: String) throws -> Answer {
        let outcome = try Program.run(
            "ffprobe",
            ["-v", "quiet", "-select_streams", track, "-show_entries", entries, "-of", "json", path])
        return try JSONDecoder().decode(Answer.self, from: outcome.output)
    }

    /// Seconds a tick.
    private static func unit(_ answer: Answer) -> Double {
        let parts = (answer.streams?.first?.time_base ?? "1/1").split(separator: "/").compactMap { Double($0) }
        return parts.count == 2 ? parts[0] / parts[1] : 1
    }

    struct Times {
        /// Seconds, sorted.
        var times: [Double]
        var tick: Double
    }

    /// Times of the pictures that one pass of the decoder shows.
    func shownPictures() throws -> Times {
        let answer = try ask("v:0", "frame=best_effort_timestamp:stream=time_base")
        let unit = Self.unit(answer)
        return Times(
            times: (answer.frames ?? []).compactMap(\.best_effort_timestamp).sorted().map { Double($0) * unit },
            tick: unit)
    }

    /// Times of the pictures in the container, and whether decode times rise strictly.
    func storedPictures() throws -> (times: Times, decodeTimesRise: Bool) {
        let answer = try ask("v:0", "packet=pts,dts,flags:stream=time_base")
        let unit = Self.unit(answer)
        let packets = answer.packets ?? []
        let decode = packets.compactMap(\.dts)
        let shown = packets.filter { !($0.flags ?? "").contains("D") }.compactMap(\.pts).sorted()
        return (
            Times(times: shown.map { Double($0) * unit }, tick: unit),
            zip(decode, decode.dropFirst()).allSatisfy { $0 < $1 }
        )
    }

    struct Sound {
        /// Seconds, of the first sample that is heard.
        var start: Double
        /// Heard samples.
        var count: Int
        var rate: Int
    }

    func sound() throws -> Sound? {
        let answer = try ask("a:0", "frame=pts,nb_samples:stream=time_base,sample_rate")
        guard let first = answer.frames?.first(where: { $0.pts != nil })?.pts else { return nil }
        return Sound(
            start: Double(first) * Self.unit(answer),
            count: (answer.frames ?? []).reduce(0) { $0 + ($1.nb_samples ?? 0) },
            rate: Int(answer.streams?.first?.sample_rate ?? "") ?? 0)
    }

    /// What a whole decode complains about.
    func complaints() throws -> String {
        let outcome = try Program.run(
            "ffmpeg", ["-v", "error", "-i", path, "-map", "0:v", "-map", "0:a?", "-f", "null", "-"])
        // The null muxer's own unit is a frame: two frames closer than that trouble it, not the file.
        return outcome.errors.split(separator: "\n").filter { !$0.contains("monotonically") }.joined(separator: "\n")
    }

    /// Names of the boxes at the top of a movie.
    func boxes() throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        var names: [String] = []
        var offset = 0
        while offset + 16 <= bytes.count {
            func number(_ at: Int, _ count: Int) -> Int { bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) } }
            let short = number(offset, 4)
            names.append(String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self))
            let length = short == 1 ? number(offset + 8, 8) : short
            guard length >= 8 else { break }
            offset += length
        }
        return names
    }
}

extension Judge.Times {
    /// How the times differ, counted from the first; `nil` where they do not.
    func difference(from source: Judge.Times) -> String? {
        guard times.count == source.times.count else { return "\(source.times.count) pictures became \(times.count)" }
        guard let first = times.first, let origin = source.times.first else { return "there is no picture" }
        let error = zip(times, source.times).map { abs(($0 - first) - ($1 - origin)) }.max() ?? 0
        return error <= max(tick, source.tick) * 1.001 ? nil : "times differ by up to \(error) s"
    }
}
