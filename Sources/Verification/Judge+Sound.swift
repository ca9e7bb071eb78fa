internal import ClusterProtocol
internal import Media
internal import MediaTime

/// Sound against the picture, and subtitles.
extension Judge {
    /// - Parameter correlation: by how much the output's sound is late by its content, in seconds; asked only where packets
    ///   were not copied.
    mutating func sound(
        _ source: TrackScan, _ output: TrackScan, shift: CommonShift?, correlation: () -> Double?
    ) throws(Failure) {
        let track = source.track.index
        if source.times.isEmpty != output.times.isEmpty {
            return find(
                .soundEnd, track: track,
                output.times.isEmpty ? "The output's track is empty." : "The source's track is empty.")
        }
        let clock = try SoundClock(source.track, output.track, shift: shift)
        guard let wanted = clock.extent(of: source), let found = clock.extent(of: output) else { return }
        let told = found.start - clock.shift - wanted.start
        let copied = clock.copiedOffset(source, output, at: .head)
        if let copied {
            sync(
                .init(
                    track: track, at: clock.seconds(found.start), offset: clock.seconds(copied), method: "packets"))
        }
        soundStart(
            told: told, heard: copied ?? correlation().map(clock.units), isCopied: copied != nil, source, output, clock)

        let end = clock.copiedOffset(source, output, at: .tail) ?? found.end - clock.shift - wanted.end
        let length = found.end - clock.shift - wanted.end
        if abs(end) > clock.endTolerance(source, output) || abs(length) > clock.endTolerance(source, output) {
            find(
                .soundEnd, track: track,
                "Sound ends \(Seconds.signedMilliseconds(clock.seconds(abs(end) > abs(length) ? end : length))) off against "
                    + "the picture; it lasts \(Seconds.text(clock.seconds(wanted.end - wanted.start))) in the source and "
                    + "\(Seconds.text(clock.seconds(found.end - found.start))) in the output.")
        }
        sync(
            .init(
                track: track, at: clock.seconds(found.end), offset: clock.seconds(end),
                method: clock.copiedOffset(source, output, at: .tail) == nil ? "container" : "packets"))
        gaps(source, output, clock)
        format(source.track, output.track)
    }

    /// - Parameters:
    ///   - told: by how much the containers say that the sound starts late.
    ///   - heard: by how much it is late by its own content, where that tells.
    private mutating func soundStart(
        told: Int128, heard: Int128?, isCopied: Bool, _ source: TrackScan, _ output: TrackScan, _ clock: SoundClock
    ) {
        let track = source.track.index
        if let heard, abs(heard) > clock.startTolerance {
            let text = "Sound is heard \(Seconds.signedMilliseconds(clock.seconds(heard))) off against the picture."
            // Copied packets have exact times. What was encoded anew was measured, and encoders' delays that nobody declares
            // are of this size; nobody hears it (ITU-R BT.1359).
            if isCopied || abs(heard) > clock.second / 100 { return find(.soundOffset, track: track, text) }
            return note(.soundOffset, track: track, text)
        }
        guard abs(told) > clock.startTolerance else { return }
        if heard != nil || clock.isUndeclaredPriming(lead: -told, source, output, isCopy: isCopied) {
            note(
                .soundOffset, track: track,
                "What is heard is in place, but the container tells \(Seconds.signedMilliseconds(clock.seconds(told))): priming "
                    + "is declared by one file and not by the other.")
        } else {
            find(
                .soundOffset, track: track,
                "Sound starts \(Seconds.signedMilliseconds(clock.seconds(told))) off against the picture.")
        }
    }

    private mutating func gaps(_ source: TrackScan, _ output: TrackScan, _ clock: SoundClock) {
        let known = clock.gaps(of: source)
        if output.sound.crowded.count > source.sound.crowded.count, let first = output.sound.crowded.first {
            find(
                .soundOverlap, track: source.track.index,
                "\(output.sound.crowded.count) packets of sound follow the one before sooner than that lasts, first at "
                    + "\(Seconds.text(clock.seconds(clock.units(first, in: output.track.timeBase)))) of the output: sound is "
                    + "written over sound, as where parts are put together whose encoders each began anew.")
        }
        let fresh = clock.gaps(of: output).filter { gap in
            !known.contains {
                abs($0.start + clock.shift - gap.start) <= clock.second / 10
                    && gap.length <= $0.length + clock.second / 20
            }
        }
        guard let first = fresh.first else { return }
        find(
            .soundGap, track: source.track.index,
            "\(fresh.count) holes in the sound that the source does not have, first "
                + "\(Seconds.text(clock.seconds(first.length))) at \(Seconds.text(clock.seconds(first.start))) of the output."
        )
    }

    private mutating func format(_ source: Track, _ output: Track) {
        if source.format.channelLayout != output.format.channelLayout {
            let text =
                "The channels are \(source.format.channelLayout ?? "?") in the source and \(output.format.channelLayout ?? "?") in the output."
            if output.format.channelCount < source.format.channelCount {
                find(.channels, track: source.index, text)
            } else {
                note(.tracks, track: source.index, text)
            }
        }
        if source.format.sampleRate != output.format.sampleRate {
            note(
                .tracks, track: source.index,
                "The sample rate is \(source.format.sampleRate) Hz in the source and \(output.format.sampleRate) Hz in the output."
            )
        }
    }

    // MARK: Subtitles

    mutating func subtitles(_ source: TrackScan, _ output: TrackScan, shift: CommonShift?) throws(Failure) {
        // libavformat makes up teletext's times from the clock of the program (mpegts.c), anew at each reading.
        guard source.track.format.codecName != "dvb_teletext" else {
            guard source.count > output.count else { return }
            return find(
                .missing, track: source.track.index,
                "\(source.count - output.count) of \(source.count) packets of teletext are missing.")
        }
        let clock = try SoundClock(source.track, output.track, shift: shift)
        let comparison = TimelineComparison.whole(
            // What begins before the file's time line does can only be shown from its start on.
            expected: source.times.map { max(0, clock.units($0, in: source.track.timeBase) + clock.shift) },
            found: output.times.map { max(0, clock.units($0, in: output.track.timeBase)) }, shift: 0,
            // ASS tells hundredths of a second.
            tolerance: max(clock.startTolerance, clock.second / 90), reach: clock.second / 2)
        let track = source.track.index
        timeError(
            track: track, max: clock.seconds(comparison.largestError), mean: comparison.meanError / Double(clock.second)
        )
        captionText(source, output, clock)
        if comparison.missing.count > 0 {
            find(.missing, track: track, "\(comparison.missing.count) of \(comparison.expected) subtitles are missing.")
        }
        if comparison.surplus.count > 0 {
            find(.duplicated, track: track, "\(comparison.surplus.count) subtitles are there twice or belong nowhere.")
        }
        if comparison.moved.count > 0 {
            find(
                .timestamps, track: track,
                "\(comparison.moved.count) subtitles have a wrong time, by up to \(Seconds.fine(clock.seconds(comparison.largestError)))."
            )
        }
    }
}

extension Judge {
    /// What subtitles at one time say, and how long they stay.
    private mutating func captionText(_ source: TrackScan, _ output: TrackScan, _ clock: SoundClock) {
        let tolerance = max(clock.startTolerance, clock.second / 90)
        var left = output.cues[...]
        var (changed, longer): ([String], Int) = ([], 0)
        for cue in source.cues {
            let start = clock.units(cue.start, in: source.track.timeBase) + clock.shift
            func distance(_ other: TrackScan.Cue) -> Int128 {
                abs(clock.units(other.start, in: output.track.timeBase) - start)
            }
            let near = left.indices.filter { distance(left[$0]) <= clock.second / 4 }
            guard let index = near.first(where: { left[$0].text == cue.text }) ?? near.first else { continue }
            let match = left.remove(at: index)
            if let text = cue.text, let other = match.text, text != other {
                changed.append("\"\(text)\" → \"\(other)\"")
            }
            let ends = [(cue, source), (match, output)].map { clock.units($0.0.duration, in: $0.1.track.timeBase) }
            if cue.duration > 0, match.duration > 0, abs(ends[0] - ends[1]) > 2 * tolerance { longer += 1 }
        }
        if let first = changed.first {
            find(.captions, track: source.track.index, "\(changed.count) subtitles say something else, first \(first).")
        }
        if longer > 0 {
            find(.timestamps, track: source.track.index, "\(longer) subtitles are shown for another time.")
        }
    }

    /// What was heard in the decoded sound, at several places.
    mutating func soundContent(_ content: SoundContent, of track: Int) {
        for mark in content.offsets {
            sync(.init(track: track, at: mark.at, offset: mark.offset, method: "content"))
        }
        if let worst = content.offsets.dropFirst().max(by: { abs($0.offset) < abs($1.offset) }),
            abs(worst.offset) > 0.01
        {
            find(
                .soundOffset, track: track,
                "Sound is heard \(Seconds.signedMilliseconds(worst.offset)) off against the picture at "
                    + "\(Seconds.text(worst.at)) of the output.")
        }
        if !content.exchanged.isEmpty {
            let names = content.exchanged.map { "\($0.0 + 1) is heard in \($0.1 + 1)" }.joined(separator: ", ")
            find(.channels, track: track, "Channels of sound have changed places: \(names).")
        }
    }
}

/// One unit for a track of sound (or subtitles) in source and output and for the common shift.
struct SoundClock {
    private let clock: CommonClock
    /// Output time minus source time.
    let shift: Int128
    /// What rounding to the time bases and to a movie's edit list unit (often 1 ms) may cost.
    let startTolerance: Int128
    private let rounding: Int128

    init(_ source: Track, _ output: Track, shift common: CommonShift?) throws(Failure) {
        let rates = [source, output].compactMap { track in
            Int32(exactly: track.format.sampleRate).flatMap { TimeBase(numerator: 1, denominator: $0) }
        }
        var bases = [source.timeBase, output.timeBase, .milliseconds] + rates
        if let common, let denominator = Int32(exactly: common.clock.rate),
            let base = TimeBase(numerator: 1, denominator: denominator)
        {
            bases.append(base)
            clock = try CommonClock(bases)
            shift = common.units * (clock.rate / common.clock.rate)
        } else {
            clock = try CommonClock(bases)
            // No whole number of units: to the nearest microsecond.
            let microseconds = Int128(((common?.seconds ?? 0) * 1_000_000).rounded())
            shift = microseconds * clock.rate / 1_000_000
        }
        let ticks = clock.tick(of: source.timeBase) + clock.tick(of: output.timeBase)
        // The picture's time base rounds the common shift.
        rounding = ticks / 2 + clock.rate / 2000
        startTolerance = ticks + clock.rate * 3 / 2000
    }

    var second: Int128 { clock.rate }
    func seconds(_ units: Int128) -> Double { clock.seconds(units) }
    /// A measured, inexact time.
    func units(_ seconds: Double) -> Int128 { Int128((seconds * Double(clock.rate)).rounded()) }
    func units(_ ticks: Int64, in timeBase: TimeBase) -> Int128 { clock.units(ticks, in: timeBase) }

    private func samples(_ count: Int64, _ track: Track) -> Int128 {
        track.format.sampleRate > 0 ? Int128(count) * clock.rate / Int128(track.format.sampleRate) : 0
    }

    /// From the first sample that is heard to the last.
    func extent(of scan: TrackScan) -> (start: Int128, end: Int128)? {
        guard let first = scan.sound.first, let end = scan.end else { return nil }
        let start = units(first, in: scan.track.timeBase) + samples(scan.sound.priming, scan.track)
        let stop = units(end, in: scan.track.timeBase) - samples(scan.sound.padding, scan.track)
        // A movie cuts its last packet short by saying how long it lasts, which no decoder looks at.
        return (
            scan.edges.start.map { units($0, scan) } ?? start, scan.edges.end.map { min(units($0, scan), stop) } ?? stop
        )
    }

    private func units(_ place: SoundEdges.Place, _ scan: TrackScan) -> Int128 {
        units(place.ticks, in: scan.track.timeBase) + Int128(place.samples) * clock.rate / Int128(place.rate)
    }

    /// By how much packets that were copied lie later in the output; `nil` where none is recognised.
    func copiedOffset(_ source: TrackScan, _ output: TrackScan, at end: SoundAnchors.End) -> Int128? {
        guard source.track.format.codecName == output.track.format.codecName else { return nil }
        let offsets = source.anchors.pairs(with: output.anchors, at: end).map { pair in
            units(pair.1, in: output.track.timeBase) - shift - units(pair.0, in: source.track.timeBase)
        }.sorted()
        return offsets.isEmpty ? nil : offsets[offsets.count / 2]
    }

    /// The last packet may be partly padding, in either file.
    func endTolerance(_ source: TrackScan, _ output: TrackScan) -> Int128 {
        func packet(_ scan: TrackScan) -> Int128 {
            let longest = units(scan.longest, in: scan.track.timeBase)
            guard let end = scan.edges.end, scan.edges.lastLength > 0 else { return longest }
            // A packet before a hole is said to last until the next.
            let rate = Int128(max(1, scan.track.format.sampleRate))
            let most = Int128(max(scan.edges.lastLength, 2048)) * clock.rate / min(rate, Int128(end.rate))
            return min(longest, most)
        }
        return packet(source) + packet(output) + startTolerance
    }

    /// Holes long enough to be no rounding.
    func gaps(of scan: TrackScan) -> [(start: Int128, length: Int128)] {
        scan.sound.gaps.map { (units($0.start, in: scan.track.timeBase), units($0.length, in: scan.track.timeBase)) }
            .filter { $0.1 > second / 100 }
    }

    /// Samples that encoders put before the sound, by codec.
    private static let primings: [String: [Int64]] = [
        "aac": [1024, 2048, 2112], "mp3": [1105, 576, 1152, 1681], "opus": [312, 120, 960], "ac3": [256], "eac3": [256],
    ]

    /// Some containers (MPEG-TS, FLV) cannot say that the first samples are an encoder's priming: the sound then begins
    /// earlier by exactly that, and what is heard is in place.
    func isUndeclaredPriming(lead: Int128, _ source: TrackScan, _ output: TrackScan, isCopy: Bool) -> Bool {
        guard lead > 0, output.sound.priming == 0 else { return false }
        var candidates = [source.sound.priming]
        if !isCopy { candidates += Self.primings[output.track.format.codecName] ?? [] }
        return candidates.contains { $0 > 0 && abs(samples($0, output.track) - lead) <= rounding }
    }
}
