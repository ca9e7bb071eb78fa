/// How far an export is, as its engine tells from time to time.
struct ExportProgress: Hashable, Sendable {
    enum Stage: String, Hashable, Sendable, CaseIterable {
        case opening, indexing, planning, encoding, stitching, proving
    }

    var stage = Stage.opening
    var framesDone = 0
    var framesTotal: Int?
    /// `framesTotal` is a guess.
    var isEstimate = false
    /// Media time, in seconds for display.
    var secondsDone = 0.0
    var secondsTotal: Double?
    var segmentsDone = 0
    var segmentsTotal: Int?
    /// Segments that are in the output file.
    var segmentsStitched = 0
    var slotsBusy = 0
    var slotsTotal = 0
    /// Of compressed output so far.
    var bytes: Int64 = 0
    /// Wall time since the start.
    var elapsed = 0.0
    /// Frames a second of wall time, over the last while.
    var framesPerSecond = 0.0
    /// Seconds of wall time to the end, from the critical path; `nil` when it cannot be told yet.
    var remaining: Double?
}

extension ExportProgress {
    /// 0…1, by frames where their number is known, else by media time, else by segments.
    var share: Double? {
        let share: Double
        if stage == .proving { return nil }
        if stage == .stitching {
            guard let segmentsTotal, segmentsTotal > 0 else { return nil }
            share = Double(segmentsStitched) / Double(segmentsTotal)
        } else if let framesTotal, framesTotal > 0 {
            share = Double(framesDone) / Double(framesTotal)
        } else if let secondsTotal, secondsTotal > 0 {
            share = secondsDone / secondsTotal
        } else if let segmentsTotal, segmentsTotal > 0 {
            share = Double(segmentsDone) / Double(segmentsTotal)
        } else {
            return nil
        }
        return min(max(share, 0), 1)
    }

    /// The frames are done: their number and rate say nothing about what is left.
    var isAfterEncoding: Bool { stage == .stitching || stage == .proving }

    /// Media time a second of wall time; `nil` at the very start.
    var realtime: Double? {
        guard let secondsTotal, let framesTotal, framesTotal > 0, framesPerSecond > 0 else {
            return elapsed > 0.5 && secondsDone > 0 ? secondsDone / elapsed : nil
        }
        return framesPerSecond * secondsTotal / Double(framesTotal)
    }
}

/// What an engine tells while it works.
enum ExportEvent: Hashable, Sendable {
    case progress(ExportProgress)
    /// A sentence worth reading now: a slot died and its segment runs again, a track cannot be carried.
    case notice(String)
}
