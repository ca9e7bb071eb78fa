package import ClusterProtocol
package import Media
internal import MediaTime
package import SegmentPlan

/// One opened source on one slot, kept between leases of a job: parsing a long file's index again for each of thousands of
/// segments would cost more than the work.
///
/// Used from one thread.
package final class SourceSession: SegmentSource {
    package let track: Track
    package var picture: SourcePicture { SourcePicture(track) }
    private let reference: SourceReference
    /// Stops the reading, for good: the session is of no use afterwards.
    package let interrupt: InterruptFlag
    /// What the source looked like when it was opened.
    private let opened: (size: Int64, modified: Int64)
    private var demuxer: Demuxer
    private let access: ContainerAccess
    private let wrap: TimestampWrap
    /// Decode time of the sample read last as it stands in the source, but for the wrap, and what is added to it.
    private var clock: (time: Int128, offset: Int128)?
    /// The jumps of the segment's stretch that are still to come.
    private var jumps: ArraySlice<TimelineJump> = []
    /// Samples of the track read since the beginning, while every one was read in turn; `nil` after a seek.
    private var ordinal: Int?
    /// A sample read ahead, to be returned next.
    private var pushedBack: PositionedSample?

    private struct PositionedSample {
        /// With its times as they stand in the source.
        var sample: Sample
        var ordinal: Int?
    }

    /// Opens the source, and refuses one whose bytes are not those that were planned.
    package init(_ reference: SourceReference, interrupt: InterruptFlag) throws(Failure) {
        self.reference = reference
        self.interrupt = interrupt
        // Before the fingerprint: what changes after this look is noticed by the next.
        opened =
            reference.fingerprint.isKnown
            ? try SourceReference.Fingerprint.glance(at: reference.location, interrupt: interrupt) : (0, 0)
        try Self.checkFingerprint(reference, interrupt)
        demuxer = try Self.open(reference, interrupt: interrupt)
        guard demuxer.tracks.indices.contains(reference.videoTrack) else {
            throw Failure(.asset, "\(reference.location) has no track \(reference.videoTrack).", exitCode: .badSource)
        }
        track = demuxer.tracks[reference.videoTrack]
        access = ContainerAccess(demuxer.containerName)
        wrap = TimestampWrap(timeBase: track.timeBase, isEnabled: access.isDiscontinuous)
        ordinal = 0
        demuxer.select(tracks: [reference.videoTrack])
    }

    private static func open(_ reference: SourceReference, interrupt: InterruptFlag) throws(Failure) -> Demuxer {
        do {
            return try Demuxer(
                location: reference.location, options: Demuxer.patience(for: reference.location), interrupt: interrupt)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    private static func checkFingerprint(_ reference: SourceReference, _ interrupt: InterruptFlag) throws(Failure) {
        guard reference.fingerprint.isKnown else { return }
        let found = try SourceReference.Fingerprint.of(reference.location, isPatient: true, interrupt: interrupt)
        guard found.hash == reference.fingerprint.hash, found.size == reference.fingerprint.size else {
            throw Failure(
                .asset, "\(reference.location) is not the file that was planned: its content differs.",
                advice: "Leave the source alone while it is exported, then start again.", fault: .source,
                exitCode: .badSource)
        }
    }

    /// Refuses a source that is not as it was when it was opened: a cheap look, for each segment.
    package func checkUnchanged() throws(Failure) {
        guard reference.fingerprint.isKnown else { return }
        let found = try SourceReference.Fingerprint.glance(at: reference.location, interrupt: interrupt)
        guard found.size == opened.size, found.modified == opened.modified else {
            throw Failure(
                .asset, "\(reference.location) changed while it was read.",
                advice: "Leave the source alone while it is exported, then start again.", fault: .source,
                exitCode: .badSource)
        }
    }

    // MARK: Reading one segment

    private var segment: Segment?
    private var sawNext = false
    private var goesOn = false
    private var skipped: (Int) -> Void = { _ in }

    /// Positions the source at the segment's entry sample.
    ///
    /// - Parameter goesOn: samples beyond the segment are delivered too, until the caller has enough.
    /// - Parameter skipped: called with the size of each sample that is passed over on the way, which may be most of the source.
    package func begin(
        _ segment: Segment, goesOn: Bool = false, skipped: @escaping (Int) -> Void = { _ in }
    ) throws(Failure) {
        self.skipped = skipped
        defer { self.skipped = { _ in } }
        self.segment = segment
        self.goesOn = goesOn
        sawNext = false
        jumps = segment.jumps.filter { $0.ordinal >= segment.entry.ordinal }[...]
        do {
            try position(at: segment.entry)
            setClock(at: segment.entry)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// The segment's next sample in decode order, with times on the unrolled time line; `nil` after the last.
    ///
    /// The last are the leading pictures of the keyframe that follows the segment, and so that keyframe itself, when it has
    /// any: they are shown before it (DESIGN.md, Ownership of frames).
    package func next() throws(Failure) -> Sample? {
        guard let segment else { return nil }
        let item: PositionedSample?
        do {
            item = try read()
        } catch {
            throw Failure(error, role: .source)
        }
        guard let item else {
            self.segment = nil
            return nil
        }
        let sample = unrolled(item)
        if !goesOn, ends(segment, before: sample, item) {
            pushedBack = item
            self.segment = nil
            return nil
        }
        return sample
    }

    private func ends(_ segment: Segment, before sample: Sample, _ item: PositionedSample) -> Bool {
        // Nothing decoded at this time or later is shown before it: so ends a segment inside a group of pictures, also of the
        // track's last, and one whose next keyframe cannot be recognised again.
        if let dts = sample.dts, dts >= segment.end, (sample.pts ?? dts) >= segment.end { return true }
        guard let next = segment.next else { return false }
        if sawNext { return (sample.pts ?? sample.dts ?? .max) >= next.pts }
        guard matches(item, next) else { return false }
        sawNext = true
        return next.leading == 0
    }

    /// The sample on the one time line.
    private func unrolled(_ item: PositionedSample) -> Sample {
        let sample = item.sample
        guard access.isDiscontinuous, let raw = sample.dts ?? sample.pts else { return sample }
        if let jump = jumps.first, isPlace(of: jump, item, raw) {
            jumps.removeFirst()
            clock = (Int128(raw), Int128(jump.dts) - Int128(raw))
        }
        let (last, offset) = clock ?? (Int128(raw), 0)
        let time = wrap.unwrapped(raw, near: last)
        clock = (time, offset)
        return sample.retimed(
            pts: sample.pts.map { Int64(clamping: wrap.unwrapped($0, near: time) + offset) },
            dts: sample.dts.map { _ in Int64(clamping: time + offset) }, duration: sample.duration,
            timeBase: sample.timeBase)
    }

    /// The entry's time on the one time line is known from the plan. It is the next sample.
    private func setClock(at entry: Keyframe) {
        guard access.isDiscontinuous, let sample = pushedBack?.sample, let raw = sample.dts ?? sample.pts else {
            return
        }
        clock = nil
        // What stands for the track's first sample has no time of its own.
        guard entry.ordinal != 0 || entry.position >= 0 else { return }
        let shown = wrap.unwrapped(sample.pts ?? raw, near: Int128(raw))
        clock = (Int128(raw), Int128(entry.pts) - shown)
    }

    private func isPlace(of jump: TimelineJump, _ item: PositionedSample, _ raw: Int64) -> Bool {
        guard wrap.isSame(raw, jump.raw) else { return false }
        if let ordinal = item.ordinal { return ordinal == jump.ordinal }
        guard jump.position >= 0, let position = item.sample.position else { return true }
        return position == jump.position
    }

    private func read() throws(MediaError) -> PositionedSample? {
        if let item = pushedBack {
            pushedBack = nil
            return item
        }
        // What is not there any more (a file that is cut off) has been left out of the plan, too.
        while let sample = try demuxer.readToEnd() {
            guard sample.track == track.index else { continue }
            defer { ordinal = ordinal.map { $0 + 1 } }
            return PositionedSample(sample: sample, ordinal: ordinal)
        }
        return nil
    }

    // MARK: Positioning

    /// Leaves the reader so that the next sample is `entry`: by reading on, by a seek that is checked, or from the beginning.
    private func position(at entry: Keyframe) throws(MediaError) {
        if let item = pushedBack, matches(item, entry) { return }
        pushedBack = nil
        if try seek(to: entry) { return }
        try readForward(to: entry)
    }

    /// Whether this sample is that keyframe. A byte position identifies it even where times repeat.
    private func matches(_ item: PositionedSample, _ keyframe: Keyframe) -> Bool {
        if let ordinal = item.ordinal, keyframe.ordinal >= 0 { return ordinal == keyframe.ordinal }
        guard item.sample.isSync || keyframe.ordinal == 0 else { return false }
        if keyframe.position >= 0, let position = item.sample.position {
            return position == keyframe.position
        }
        return item.sample.pts == keyframe.pts
    }

    /// Samples read after a seek before it is taken to have missed.
    private static let seekPatience = 2_000

    private func seek(to entry: Keyframe) throws(MediaError) -> Bool {
        guard entry.ordinal != 0 || entry.position > 0 else { return false }
        do {
            switch access.seeking {
            case .decodeTime: try demuxer.seek(track: track.index, toTicks: entry.dts)
            case .presentationTime: try demuxer.seek(track: track.index, toTicks: entry.pts)
            case .bytes:
                guard entry.position >= 0 else { return false }
                try demuxer.seek(toByte: entry.position)
            case .none: return false
            }
        } catch {
            // Reading from the beginning would only wait for the same server again.
            guard error.reason != .timedOut else { throw error }
            return false
        }
        ordinal = nil
        for _ in 0..<Self.seekPatience {
            guard let item = try read() else { return false }
            guard matches(item, entry) else {
                skipped(item.sample.size)
                let dts = item.sample.dts ?? item.sample.pts
                if !access.isDiscontinuous, let dts, dts > entry.pts { return false }
                continue
            }
            pushedBack = PositionedSample(sample: item.sample, ordinal: nil)
            return true
        }
        return false
    }

    /// Counts samples from the beginning (or from here, when the keyframe lies ahead).
    private func readForward(to entry: Keyframe) throws(MediaError) {
        if let ordinal, entry.ordinal >= 0, ordinal <= entry.ordinal {
            // It lies ahead: read on.
        } else {
            demuxer = try Demuxer(
                location: reference.location, options: Demuxer.patience(for: reference.location), interrupt: interrupt)
            demuxer.select(tracks: [reference.videoTrack])
            ordinal = 0
        }
        while let item = try read() {
            if matches(item, entry) {
                pushedBack = item
                return
            }
            skipped(item.sample.size)
            if interrupt.isInterrupted { throw MediaError(.asset, .cancelled, "The reading was stopped.") }
        }
        throw MediaError(
            .asset, .invalidData,
            "The sample at tick \(entry.pts) that a segment starts with was not found in \(reference.location) again.")
    }
}

/// How a container lets a reader come back to a sample.
package struct ContainerAccess: Sendable {
    package enum Seeking: Sendable {
        case decodeTime, presentationTime, bytes, none
    }

    package let seeking: Seeking
    /// Times may wrap, restart or jump (AVFMT_TS_DISCONT).
    package let isDiscontinuous: Bool

    /// - Parameter name: libavformat's name of the demuxer.
    package init(_ name: String) {
        let names = Set(name.split(separator: ",").map(String.init))
        if !names.isDisjoint(with: ["mov", "mp4"]) {
            (seeking, isDiscontinuous) = (.decodeTime, false)
        } else if !names.isDisjoint(with: ["matroska", "webm"]) {
            (seeking, isDiscontinuous) = (.presentationTime, false)
        } else if names.contains("mpegts") {
            (seeking, isDiscontinuous) = (.bytes, true)
        } else if names.contains("mpeg") {
            (seeking, isDiscontinuous) = (.none, true)
        } else if names.contains("flv") {
            (seeking, isDiscontinuous) = (.bytes, false)
        } else {
            (seeking, isDiscontinuous) = (.none, false)
        }
    }
}
