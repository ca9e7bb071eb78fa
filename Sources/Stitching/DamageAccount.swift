internal import ClusterProtocol
internal import MediaTime
internal import SegmentPlan

/// Gathers what damage did to the tracks, as ranges on the output's time line, and ends the export where it is too much.
struct DamageAccount {
    private(set) var ranges: [JobReport.Damage] = []
    private let track: Int
    private let timeBase: TimeBase
    private let origin: MediaTime
    private let limit: DamageLimit?
    private let isStrict: Bool

    init(_ job: StitchJob) throws(Failure) {
        track = job.videoTrack
        timeBase = job.timeBase
        origin = job.origin
        limit = job.maxDamage
        isStrict = job.refusesDamage
        for range in job.knownDamage { try add(range) }
    }

    /// - Parameters:
    ///   - times: of the pictures concerned, with how many have each: damage gives two one time.
    ///   - source: of all source pictures of the segment, sorted.
    mutating func add(
        _ kind: JobReport.Damage.Kind, _ times: [Int64: Int], among source: [Int64], of segment: Segment, detail: String
    ) throws(Failure) {
        guard !times.isEmpty else { return }
        var index = 0
        while index < source.count {
            guard times[source[index]] != nil else {
                index += 1
                continue
            }
            let start = source[index]
            var frames = 0
            while index < source.count, let count = times[source[index]] {
                let time = source[index]
                frames += count
                while index < source.count, source[index] == time { index += 1 }
            }
            try add(
                JobReport.Damage(
                    track: track, kind: kind, start: try place(start),
                    end: try place(index < source.count ? source[index] : max(segment.end, start &+ 1)),
                    frames: frames, detail: detail))
        }
    }

    /// - Parameter start, end: ticks of the picture's track.
    mutating func add(
        _ kind: JobReport.Damage.Kind, from start: Int64, to end: Int64, frames: Int, detail: String
    ) throws(Failure) {
        try add(
            JobReport.Damage(
                track: track, kind: kind, start: try place(start), end: try place(end), frames: frames, detail: detail))
    }

    /// A range that goes on where the last of its kind ended is one with it.
    mutating func add(_ range: JobReport.Damage) throws(Failure) {
        if let last = ranges.lastIndex(where: { $0.track == range.track && $0.kind == range.kind }),
            ranges[last].end == range.start, ranges[last].detail == range.detail
        {
            ranges[last].end = range.end
            ranges[last].frames += range.frames
        } else {
            ranges.append(range)
        }
        try check(pictures: nil)
    }

    private func place(_ time: Int64) throws(Failure) -> MediaTime {
        do {
            return try MediaTime(ticks: time, in: timeBase).subtracting(origin)
        } catch {
            throw Failure(.timing, "A time of the source cannot be told: \(error).", exitCode: .badSource)
        }
    }

    // MARK: Limits

    private var damagedPictures: Int { ranges.filter { $0.track == track }.reduce(0) { $0 + $1.frames } }

    /// - Parameter pictures: how many the source has, where that is known by now.
    func check(pictures: Int?) throws(Failure) {
        if isStrict, let first = ranges.first { throw refusal("--strict refuses damage: \(Self.words(first))") }
        switch limit {
        case .frames(let most) where damagedPictures > most:
            throw refusal("\(damagedPictures) pictures are damaged or missing; --max-damage allows \(most).")
        case .percent(let most):
            guard let pictures, pictures > 0 else { return }
            let share = Double(damagedPictures) * 100 / Double(pictures)
            guard share > most else { return }
            throw refusal(
                "\(damagedPictures) of \(pictures) pictures are damaged or missing; --max-damage allows \(most) %.")
        case .duration(let most):
            let seconds = ranges.filter { $0.track == track }.reduce(0) { $0 + $1.end.seconds - $1.start.seconds }
            guard seconds > most.seconds else { return }
            throw refusal(
                "\((seconds * 1000).rounded() / 1000) s of picture are damaged or missing; --max-damage allows "
                    + "\(most.seconds) s.")
        case .frames, nil: return
        }
    }

    private func refusal(_ message: String) -> Failure {
        Failure(
            .asset, message,
            advice: isStrict
                ? "Leave out --strict; the damage is then named in the report."
                : "Allow more, or leave out --max-damage; the damage is then named in the report.",
            fault: .source, exitCode: .badSource)
    }

    private static func words(_ range: JobReport.Damage) -> String {
        "track \(range.track), \(range.start.seconds) s to \(range.end.seconds) s, \(range.frames) frames "
            + "\(range.kind.rawValue): \(range.detail)"
    }
}
