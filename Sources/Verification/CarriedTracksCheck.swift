internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Holds the tracks beside the picture against what was promised of them: whether they are there, hold something, and last as
/// long. Samples are counted where libavformat writes and reads them one for one; everywhere the times tell.
struct CarriedTracksCheck {
    private let promised: [CarriedTally]
    /// Number in `promised`, by index of the output's track.
    private var places: [Int: Int] = [:]
    private var unrollers: [Int: WrapUnroller] = [:]
    private var found: [CarriedTally.Extent]
    /// Source tracks some of whose samples have no time in the output; which ones need not be the first.
    private var untimed: Set<Int> = []
    /// Nanoseconds that the output lies later than what was promised.
    private let shift: Int64
    private let splitsSamples: Bool

    /// - Parameters:
    ///   - tracks: of the output; `film` is the index of its picture.
    ///   - splitsSamples: packets are what a parser makes of a stream of bytes.
    init(_ promised: [CarriedTally], in tracks: [Track], film: Int, shift: MediaTime, isTransportStream: Bool) {
        self.promised = promised
        self.shift = Int64((shift.seconds * 1e9).rounded())
        splitsSamples = isTransportStream
        found = Array(repeating: CarriedTally.Extent(), count: promised.count)
        // Containers keep the order of the tracks of a kind, and have tracks of their own between them.
        var left = tracks.filter { $0.index != film && !PictureTrack.isStill($0) }
        for (number, tally) in promised.enumerated() {
            guard let place = left.firstIndex(where: { $0.mediaType == tally.mediaType && !Self.isOwn($0) }) else {
                continue
            }
            let track = left.remove(at: place)
            places[track.index] = number
            unrollers[track.index] = WrapUnroller(timeBase: track.timeBase, isEnabled: isTransportStream)
        }
    }

    /// What libavformat makes of chapters and of a time code.
    private static func isOwn(_ track: Track) -> Bool {
        ["text", "tmcd"].contains(track.format.codecTag) && track.mediaType == .data
    }

    /// The output's tracks to read.
    var tracks: [Int] { places.keys.sorted() }

    mutating func add(_ sample: Sample) {
        guard let number = places[sample.track] else { return }
        guard promised[number].mediaType != .subtitle || sample.beginsCue else { return }
        guard let times = unrollers[sample.track]?.times(dts: sample.dts, pts: sample.pts),
            let pts = times.pts ?? times.dts
        else {
            found[number].count += 1
            untimed.insert(promised[number].track)
            return
        }
        found[number].add(
            from: sample.timeBase.nanoseconds(pts) &- shift, lasting: sample.timeBase.nanoseconds(sample.cueDuration))
    }

    func verdict() -> (tracks: [JobReport.Proof.CarriedTrack], complaints: [String]) {
        var rows: [JobReport.Proof.CarriedTrack] = []
        var complaints: [String] = []
        for (number, tally) in promised.enumerated() {
            let isThere = places.values.contains(number)
            // Damaged headers name tracks that hold nothing, and a movie holds no such track.
            let isEmpty = tally.read.count == 0 && tally.written.count == 0
            let fault = isThere ? fault(tally, found[number]) : isEmpty ? nil : "is not in the output"
            if let fault {
                complaints.append("Track \(tally.track) (\(tally.mediaType.rawValue), \(tally.codec)) \(fault).")
            }
            rows.append(
                .init(
                    track: tally.track, kind: tally.mediaType.rawValue, codec: tally.codec,
                    sourceSamples: tally.read.count, outputSamples: found[number].count,
                    sourceEnd: Self.seconds(tally.read.end), outputEnd: Self.seconds(found[number].end),
                    pass: fault == nil))
        }
        return (rows, complaints)
    }

    // MARK: One track

    private func fault(_ tally: CarriedTally, _ found: CarriedTally.Extent) -> String? {
        // What was promised and then could not be had has its own words in the report.
        let wanted =
            tally.hasKnownGaps || tally.isCopy == false && tally.mediaType == .subtitle ? tally.written : tally.read
        guard wanted.count > 0 else { return nil }
        guard found.count > 0 else { return "has \(wanted.count) samples in the source and none in the output" }
        if isCounted(tally), found.count < tally.written.count {
            return "has \(tally.written.count) samples, and \(found.count) of them are in the output"
        }
        guard found.end != .min, wanted.end != .min else { return nil }
        let late = found.first - wanted.first
        let hasUntimed = untimed.contains(tally.track)
        if !hasUntimed, late > slack(wanted, found) + Self.priming { return "begins \(Self.text(late)) too late" }
        // How long a cue or a piece of data lasts is not every container's to tell.
        let early = tally.mediaType == .audio ? wanted.end - found.end : wanted.last - found.last
        if early > slack(wanted, found) { return "ends \(Self.text(early)) too early" }
        return nil
    }

    /// Muxers and demuxers cut PCM anew, gather E-AC-3 and TrueHD, and parse what comes out of a transport stream.
    private func isCounted(_ tally: CarriedTally) -> Bool {
        guard tally.mediaType == .audio else { return !splitsSamples || tally.mediaType == .data }
        return !splitsSamples && ["aac", "mp3", "opus", "flac", "ac3", "vorbis"].contains(tally.codec)
    }

    /// The last packet may be padding, and how long it lasts need not be told.
    private func slack(_ wanted: CarriedTally.Extent, _ found: CarriedTally.Extent) -> Int64 {
        let packet = min(max(wanted.longest, found.longest), 500_000_000)
        return packet &+ min(wanted.longest, 500_000_000) &+ 5_000_000
    }

    /// What an encoder puts before the sound, at most: 100 ms.
    private static let priming: Int64 = 100_000_000

    private static func seconds(_ time: Int64) -> Double { time == .min ? 0 : Double(time) / 1e9 }

    private static func text(_ time: Int64) -> String { Seconds.text(Double(time) / 1e9) }
}

extension TimeBase {
    /// For comparing within a packet's length: saturates.
    fileprivate func nanoseconds(_ ticks: Int64) -> Int64 {
        Int64(clamping: Int128(ticks) * 1_000_000_000 * Int128(numerator) / Int128(denominator))
    }
}
