internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Converts a track of text subtitles once, over its whole length: each cue keeps its start and its end to the tick.
final class SubtitleTranscoder {
    let format: FormatDescription
    let timeBase: TimeBase
    private let session: SubtitleSession
    private let track: Track
    /// Cues may overlap in the target.
    private let holdsOverlaps: Bool
    private var line = CueLine()
    private var lostStyling: Set<String> = []
    private var lostSettings = false
    private var damaged = 0
    private let target: String

    init(track: Track, encoder: String, holdsOverlaps: Bool) throws(Failure) {
        do {
            session = try SubtitleSession(from: track.format, encoder: encoder, timeBase: track.timeBase)
        } catch {
            throw Failure(error, role: .encode)
        }
        (format, timeBase, target) = (session.format, track.timeBase, session.format.codecName)
        (self.track, self.holdsOverlaps) = (track, holdsOverlaps)
    }

    /// - Parameter sample: at its output time, inside the exported range.
    func convert(_ sample: Sample, output: (Sample) -> Void) throws(Failure) {
        guard let pts = sample.pts else { return }
        do throws(MediaError) {
            let events = try session.decode(sample)
            noteStyling(of: sample, events)
            guard events.contains(where: { !Self.text(of: $0).isEmpty }) else { return }
            guard !holdsOverlaps else {
                return output(
                    try session.encode(
                        events, pts: pts, duration: sample.duration, timeBase: timeBase, track: track.index))
            }
            let end = pts &+ (sample.duration > 0 ? sample.duration : Self.untold(timeBase))
            try write(line.add(.init(start: pts, end: max(end, pts &+ 1), events: events)), output)
        } catch {
            guard error.reason == .invalidData else { throw Failure(error, role: .encode) }
            damaged += 1
        }
    }

    /// Reading has come to `time`, in ticks of the output: nothing is to come that begins before.
    func pass(_ time: Int64, output: (Sample) -> Void) throws(Failure) {
        guard let pending = line.pending, pending.start < time else { return }
        do throws(MediaError) {
            try write(line.release(), output)
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    func finish(output: (Sample) -> Void) throws(Failure) {
        do throws(MediaError) {
            try write(line.finish(), output)
        } catch {
            throw Failure(error, role: .encode)
        }
    }

    /// A cue whose end nothing tells is shown for three seconds, or until the next.
    private static func untold(_ timeBase: TimeBase) -> Int64 {
        (try? MediaTime(value: 3, timescale: 1).ticks(in: timeBase)) ?? 1
    }

    private func write(_ cues: [CueLine.Cue], _ output: (Sample) -> Void) throws(MediaError) {
        for cue in cues {
            output(
                try session.encode(
                    Self.joined(cue.events), pts: cue.start, duration: cue.end &- cue.start, timeBase: timeBase,
                    track: track.index))
        }
    }

    // MARK: Events

    /// The text is what follows the eighth comma: ReadOrder, Layer, Style, Name, three margins, Effect.
    private static func text(of event: String) -> Substring {
        event.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false).dropFirst(8).first ?? ""
    }

    /// libavcodec's encoder would put the lines of several events side by side.
    private static func joined(_ events: [String]) -> [String] {
        guard let first = events.first, events.count > 1 else { return events }
        return [events.dropFirst().reduce(first) { $0 + "\\N{\\r}" + text(of: $1) }]
    }

    // MARK: Losses

    /// Override codes that libavcodec's encoder of each codec writes.
    private static let kept: [String: Set<String>] = [
        "mov_text": ["b", "i", "u", "c", "1c", "alpha", "1a", "fn", "fs", "r"],
        "subrip": ["b", "i", "u", "s", "c", "1c", "fn", "fs", "an", "r"],
        "webvtt": ["b", "i", "u", "r"],
    ]

    private func noteStyling(of sample: Sample, _ events: [String]) {
        if target != "webvtt",
            sample.attachments.contains(where: { $0.kind == .webVTTSettings && !$0.bytes.isEmpty })
        {
            lostSettings = true
        }
        guard let kept = Self.kept[target] else { return }
        for event in events {
            for code in Self.codes(in: Self.text(of: event)) where !kept.contains(code) { lostStyling.insert(code) }
        }
    }

    /// Names of the override codes: `an` of `{\an8}`.
    static func codes(in text: Substring) -> [String] {
        var codes: [String] = []
        for block in text.split(separator: "{").dropFirst(text.hasPrefix("{") ? 0 : 1) {
            guard let inside = block.split(separator: "}", omittingEmptySubsequences: false).first else { continue }
            for code in inside.split(separator: "\\") {
                let names = ["1c", "2c", "3c", "4c", "1a", "2a", "3a", "4a", "an", "alpha", "fn", "fs"]
                if let known = names.first(where: { code.hasPrefix($0) }) {
                    codes.append(known)
                } else {
                    codes.append(String(code.prefix { $0.isLetter }))
                }
            }
        }
        return codes.filter { !$0.isEmpty }
    }

    var losses: [String] {
        var losses: [String] = []
        if lostSettings {
            losses.append("Positions of cues in subtitle track \(track.index) are not carried: \(target) holds none.")
        }
        if !lostStyling.isEmpty {
            let list = lostStyling.sorted().map { "\\\($0)" }.joined(separator: ", ")
            losses.append("Some styling of subtitle track \(track.index) is not carried: \(target) holds no \(list).")
        }
        if damaged > 0 {
            losses.append("\(damaged) damaged cues of subtitle track \(track.index) are not carried.")
        }
        return losses
    }

    var warnings: [String] {
        guard line.overlaps > 0 else { return [] }
        return [
            "Cues of subtitle track \(track.index) overlap (\(line.overlaps) of them); a movie's text track shows one at a time, so "
                + "they are shown together."
        ]
    }
}
