internal import Media
internal import MediaTime
internal import SourceAccess

/// What one pass over a track's samples tells of its time line.
struct TrackScan {
    let track: Track
    /// Presentation times of what is shown or heard, in ticks, sorted once the scan is finished.
    private(set) var times: [Int64] = []
    private(set) var hidden = 0
    private(set) var discarded = 0
    private(set) var undecodable = 0
    private(set) var untimed = 0
    /// Samples with a decode time only: when they are shown is for the decoder to tell.
    private(set) var unshown = 0
    private(set) var syncs: [Int64] = []
    private(set) var order: DecodeOrderCheck
    /// End of the last sample; `nil` without any.
    private(set) var end: Int64?
    /// The longest sample.
    private(set) var longest: Int64 = 0
    private(set) var sound = SoundScan()
    private(set) var anchors = SoundAnchors()
    private(set) var edges = SoundEdges()
    /// Samples that are called keyframes, and whose own bits say that decoding cannot start there.
    private(set) var falseSyncs = 0
    private(set) var cues: [Cue] = []

    /// A subtitle: ticks, and what it says where that is text.
    struct Cue {
        var start: Int64
        var duration: Int64
        var text: String?
    }

    private var opening = OpeningPictures()
    private var visibility = SampleVisibility()

    init(track: Track, storesDecodeTimes: Bool) {
        self.track = track
        order = DecodeOrderCheck(isStored: storesDecodeTimes)
    }

    mutating func add(_ sample: Sample) {
        order.add(sample)
        guard let pts = sample.pts ?? sample.dts else {
            untimed += 1
            return
        }
        if sample.pts == nil { unshown += 1 }
        switch track.mediaType {
        case .video:
            if !opening.isSettled { opening.add(sample) }
            guard isShown(sample) else { return }
            if sample.isSync {
                syncs.append(pts)
                if Self.isFalse(sample) { falseSyncs += 1 }
            }
        case .audio:
            anchors.add(sample, pts: pts)
            edges.add(sample)
            guard !sample.isDiscarded else { return discarded += 1 }
            sound.add(sample, pts: pts)
        case .subtitle:
            guard sample.beginsCue else { return }
            cues.append(Cue(start: pts, duration: sample.cueDuration, text: CaptionText.plain(sample)))
        default: break
        }
        times.append(pts)
        let duration = track.mediaType == .subtitle ? sample.cueDuration : sample.duration
        longest = max(longest, duration)
        end = max(end ?? pts, pts &+ duration)
    }

    private mutating func isShown(_ sample: Sample) -> Bool {
        let isVisible = visibility.isShown(sample)
        if sample.isDiscarded {
            discarded += 1
            return false
        }
        if !isVisible {
            hidden += 1
            return false
        }
        return true
    }

    private static func isFalse(_ sample: Sample) -> Bool {
        guard ["h264", "hevc"].contains(sample.format.codecName) else { return false }
        if case .doubtful = RandomAccessPoint.kind(of: sample) { return true }
        return false
    }

    /// Leaves what lies in a part of the time line, ticks.
    mutating func limit(from start: Int64?, to end: Int64?) {
        let (low, high) = (start ?? .min, end ?? .max)
        func isInside(_ time: Int64) -> Bool { low <= time && time < high }
        switch track.mediaType {
        case .subtitle:
            cues = cues.filter { $0.start < high && ($0.start >= low || $0.start &+ $0.duration > low) }
                .map { cue in
                    let start = max(cue.start, low)
                    let stop = min(cue.start &+ cue.duration, high)
                    return Cue(start: start, duration: max(0, stop &- start), text: cue.text)
                }
            times = cues.map(\.start).sorted()
        default: times = times.filter(isInside)
        }
        syncs = syncs.filter(isInside)
        sound.limit(from: low, to: high)
        edges.forget(start: start != nil, end: end != nil)
        self.end = self.end.map { min($0, high) }
    }

    /// Samples, with a time or without.
    var count: Int { times.count + untimed }

    /// From the first sample to the end of the last, ticks.
    var extent: Int64 { max(0, (end ?? 0) &- (times.first ?? end ?? 0)) }

    mutating func finish() {
        times.sort()
        if track.mediaType == .audio { edges.settle(track) }
        guard track.mediaType == .video else { return }
        opening.finish()
        guard let first = opening.firstShown else { return }
        undecodable = times.prefix { $0 < first }.count
        times.removeFirst(undecodable)
        syncs.removeAll { $0 < first }
    }
}

/// What a pass over a track of sound tells: where it is first heard, where it ends, and its holes.
struct SoundScan {
    /// Ticks of the track.
    private(set) var first: Int64?
    /// Samples of priming that a decoder drops at the start.
    private(set) var priming: Int64 = 0
    /// Samples of padding that a decoder drops at the end.
    private(set) var padding: Int64 = 0
    /// Start and length of the holes, in ticks.
    private(set) var gaps: [(start: Int64, length: Int64)] = []
    /// Where packets follow each other far sooner than what they decode to lasts, ticks: sound written over sound.
    private(set) var crowded: [Int64] = []
    private var front: Int64?
    private var isFrontKnown = false
    private var last: Int64?

    mutating func add(_ sample: Sample, pts: Int64) {
        let skip = Self.skip(of: sample)
        if let last, pts - last < Self.leastStep(of: sample), crowded.count < 10_000 { crowded.append(pts) }
        last = pts
        if first == nil {
            first = pts
            priming = skip.start
        }
        padding = skip.end
        if let front, pts > front, isFrontKnown { gaps.append((front, pts &- front)) }
        // Movies have no holes: a packet before one is said to last until the next. What it decodes to tells.
        front = max(front ?? pts, pts &+ Self.sounding(sample))
        // libavformat does not tell how long Matroska's first packet lasts.
        isFrontKnown = sample.duration > 0
    }

    /// What is heard of a part of the time line: nothing is dropped by a decoder at its edges.
    mutating func limit(from low: Int64, to high: Int64) {
        if let first, first < low { (self.first, priming) = (low, 0) }
        if let front, front > high { padding = 0 }
        gaps = gaps.filter { $0.start > low && $0.start &+ $0.length < high }
        crowded = crowded.filter { $0 > low && $0 < high }
    }

    /// How long a packet is heard, ticks: no longer than what its codec decodes it to.
    private static func sounding(_ sample: Sample) -> Int64 {
        let (count, rate) = (Int128(sample.audioSampleCount), Int128(sample.format.sampleRate))
        let unit = sample.timeBase
        guard count > 0, rate > 0, unit.numerator > 0 else { return sample.duration }
        let ticks = (count * Int128(unit.denominator) / (rate * Int128(unit.numerator)))
        // Decoders may double the rate that the container tells (HE-AAC), hence twice.
        return min(sample.duration, Int64(clamping: 2 * ticks))
    }

    /// Ticks that lie at least between packets of codecs whose packets all last equally long; less than half of that, as a container
    /// may tell half the rate (HE-AAC).
    private static func leastStep(of sample: Sample) -> Int64 {
        let (count, rate) = (Int128(sample.audioSampleCount), Int128(sample.format.sampleRate))
        guard ["aac", "mp2", "mp3", "ac3", "eac3"].contains(sample.format.codecName), count > 0, rate > 0,
            sample.timeBase.numerator > 0
        else { return .min }
        let unit = sample.timeBase
        return Int64(clamping: count * Int128(unit.denominator) * 2 / (rate * Int128(unit.numerator) * 5))
    }

    /// libav's side data: two 32-bit little-endian numbers of samples.
    private static func skip(of sample: Sample) -> (start: Int64, end: Int64) {
        guard let bytes = sample.attachments.first(where: { $0.kind == .skipSamples })?.bytes, bytes.count >= 8 else {
            return (0, 0)
        }
        func number(_ offset: Int) -> Int64 {
            (0..<4).reduce(0) { $0 | Int64(bytes[offset + $1]) << (8 * Int64($1)) }
        }
        return (number(0), number(4))
    }
}
