package import ClusterProtocol
package import Media
package import MediaTime
package import SegmentPlan

/// What planning learned of a source's video track.
package struct SourceIndex: Hashable, Sendable, Codable {
    package var keyframes: KeyframeIndex
    /// Samples before the first keyframe (or its undecodable leading pictures): nothing can decode them.
    package var undecodable: Int
    /// Random access points of the track, whether or not they were worth reading.
    package var syncSampleCount: Int
    /// Bytes of the source read to make the index.
    package var bytesRead: Int64
    /// Size of the source in bytes, 0 where unknown.
    package var bytesTotal: Int64
    /// The most places a sample is decoded before its turn, where every sample was seen.
    package var reorderDepth: Int?
    /// How often the clock of the picture's program was set anew.
    package var clockJumps = 0
    /// Samples that no presentation time is stored for.
    package var untimed = 0
    /// What the file should hold behind its last picture, and does not.
    package var missingEnd: MissingEnd?
}

/// The part of a track that its container names although the file stops before it.
package struct MissingEnd: Hashable, Sendable, Codable {
    /// Pictures; 0 where nobody knows.
    package var frames: Int
    /// Where the track would end, in its ticks; `nil` where nothing tells. For people: a header may be wrong.
    package var end: Int64?
    /// One sentence.
    package var words: String
}

extension SourceIndex {
    /// Only a look at every sample would tell where a long group could be cut.
    package var lacksInnerCuts: Bool { keyframes.origin == .container && keyframes.innerCuts.isEmpty }

    /// The plan's remarks that are true of the whole track: a keyframe that was not worth reading is still there.
    package func remarks(on plan: SegmentPlan) -> [String] {
        var remarks = plan.notes.filter { $0 != .singleKeyframe || syncSampleCount <= 1 }.map(\.message)
        if clockJumps > 0 {
            remarks.append(
                "The clock of the source jumps \(clockJumps == 1 ? "once" : "\(clockJumps) times"): what follows is joined on, "
                    + "all tracks together.")
        }
        return remarks
    }
}

/// Builds the keyframe index of a track: from the container's own index where it has one, reading only the keyframes that
/// a plan would cut at, else from a scan of every packet.
///
/// Used from one thread.
package struct SourceIndexer {
    private let location: String
    private let track: Track
    private let interrupt: InterruptFlag
    private let target: MediaTime?
    private let cuts: [MediaTime]

    /// - Parameter target: the segment length that will be planned for; it decides which keyframes are worth reading.
    /// - Parameter cuts: times after the picture's start around which every keyframe's nature matters.
    package init(
        location: String, track: Track, target: MediaTime?, cuts: [MediaTime] = [], interrupt: InterruptFlag
    ) {
        self.cuts = cuts
        self.location = location
        self.track = track
        self.target = target
        self.interrupt = interrupt
    }

    /// - Parameter opened: the source, opened and not yet read; `nil` opens it here. Its position is unknown afterwards.
    /// - Parameter everySample: the container's index is not enough, as it tells only keyframes.
    package func makeIndex(_ opened: Demuxer? = nil, everySample: Bool = false) throws(Failure) -> SourceIndex {
        do {
            let demuxer = try opened ?? Demuxer(location: location, interrupt: interrupt)
            demuxer.select(tracks: [track.index])
            if !everySample, let index = try containerIndex(demuxer) { return index }
            // The container's index was of no use; the demuxer may have moved.
            let fresh = try Demuxer(location: location, interrupt: interrupt)
            return try scan(fresh)
        } catch let failure as Failure {
            throw failure
        } catch let error as MediaError {
            throw Failure(error, role: .source)
        } catch {
            throw Failure(.asset, "\(location) could not be indexed: \(error)")
        }
    }

    // MARK: Scan

    private func scan(_ demuxer: Demuxer) throws -> SourceIndex {
        let reader = ProgramReader(demuxer, tracks: [track.index], survivesDamage: true)
        var builder = KeyframeCollector(track)
        while let item = try reader.next() { builder.add(item) }
        guard var index = builder.finish(origin: .scan) else { throw noPicture(isEmpty: builder.isEmpty) }
        index.bytesRead = demuxer.bytesRead
        index.bytesTotal = demuxer.byteCount ?? 0
        index.clockJumps = reader.jumps(ofTrack: track.index)
        index.missingEnd = Self.missingEnd(
            demuxer, start: index.keyframes.start, end: index.keyframes.end, track.timeBase)
        return index
    }

    private func noPicture(isEmpty: Bool) -> Failure {
        guard !isEmpty else {
            return Failure(
                .asset, "\(location) names a video track, but there is not one sample of it in the file.",
                advice: "It is cut off, or the initialization segment of a stream: put its media segments behind it "
                    + "(cat init.mp4 1.m4s 2.m4s > film.mp4).", exitCode: .badSource)
        }
        return Failure(
            .asset, "\(location) has no video sample that decoding could start at.",
            advice: "`weft probe` shows what the file holds.", exitCode: .badSource)
    }

    // MARK: Container index

    /// - Returns: `nil` where the container has no index that can be trusted.
    private func containerIndex(_ demuxer: Demuxer) throws -> SourceIndex? {
        let access = ContainerAccess(demuxer.containerName)
        guard !access.isDiscontinuous, access.seeking != .bytes, try demuxer.isIndexed(track: track.index),
            let all = try demuxer.containerIndex(track: track.index), !all.isEmpty
        else { return nil }
        let (entries, missing) = Self.present(all, size: demuxer.byteCount)
        let syncs = entries.filter(\.isSync)
        guard let first = syncs.first, let last = entries.last else { return nil }

        let isMOV = access.seeking == .decodeTime
        guard var reading = try readStart(demuxer, isMOV: isMOV, first: first) else { return nil }
        // An index that leads to nothing is damaged.
        guard
            try readEnd(
                demuxer, from: isMOV ? Self.entryBeforeEnd(entries) : nil, lastSync: syncs[syncs.count - 1],
                into: &reading)
        else { return nil }

        // Two plans: one over the container's approximate times says which keyframes are worth reading; the final one, made by
        // the caller, sees exact times.
        let sketch = KeyframeIndex(
            timeBase: track.timeBase,
            keyframes: syncs.map { Keyframe(pts: $0.timestamp, dts: $0.timestamp, position: $0.position, kind: .open) },
            start: first.timestamp, end: max(last.timestamp &+ 1, reading.end), sampleCount: nil, origin: .container)
        let wanted = try SegmentPlan.make(index: sketch, target: target ?? SegmentPlan.defaultTarget).segments.map(
            \.start)
        var keyframes = reading.keyframes
        var cursor = 0
        for start in wanted.dropFirst() {
            while cursor < syncs.count, syncs[cursor].timestamp < start { cursor += 1 }
            // Where a keyframe turns out to be no clean start, the ones after it are tried.
            for candidate in syncs[cursor...].prefix(4) {
                guard let keyframe = try readKeyframe(demuxer, at: candidate, isMOV: isMOV) else { return nil }
                let known = reading.tellsDecodeOrderOnly ? keyframe.withoutTimes : keyframe
                if keyframe.pts > keyframes.last?.pts ?? .min { keyframes.append(known) }
                if keyframe.kind == .clean || keyframe.kind == .open { break }
            }
        }
        for cut in cuts {
            guard let time = try? cut.ticks(in: track.timeBase) else { continue }
            let found = try readCuts(demuxer, around: reading.start &+ time, among: syncs, isMOV: isMOV)
            keyframes += found.filter { keyframe in !keyframes.contains { $0.pts == keyframe.pts } }
            keyframes.sort { $0.dts < $1.dts }
        }
        let missingEnd = missing ?? Self.missingEnd(demuxer, start: reading.start, end: reading.end, track.timeBase)
        return SourceIndex(
            keyframes: KeyframeIndex(
                timeBase: track.timeBase, keyframes: keyframes, start: reading.start, end: reading.end,
                sampleCount: isMOV ? entries.count { !$0.isDiscarded } : nil, origin: .container),
            undecodable: reading.undecodable, syncSampleCount: syncs.count, bytesRead: demuxer.bytesRead,
            bytesTotal: demuxer.byteCount ?? 0,
            reorderDepth: nil,
            missingEnd: missingEnd.map { missing in
                var missing = missing
                missing.end = missing.end.map { max($0, reading.end) }
                return missing
            }
        ).addingInnerCuts(entries.filter { !$0.isDiscarded }.map { ($0.timestamp, $0.isSync) }, isMOV)
    }

    /// - Returns: `nil` unless the reading came to an end before the file's own tables say.
    private static func missingEnd(
        _ demuxer: Demuxer, start: Int64, end: Int64, _ timeBase: TimeBase
    ) -> MissingEnd? {
        demuxer.cutOff.map { cutOff in
            let promised = demuxer.duration.flatMap { try? $0.ticks(in: timeBase) }.map { $0 &+ start }
            return MissingEnd(frames: 0, end: promised.flatMap { $0 > end ? $0 : nil }, words: cutOff.message)
        }
    }

    /// The entries whose samples begin inside the file. Of one that is cut off the index at its head still names all.
    private static func present(
        _ entries: [Demuxer.IndexEntry], size: Int64?
    ) -> (present: [Demuxer.IndexEntry], missing: MissingEnd?) {
        guard let size, let first = entries.firstIndex(where: { $0.position >= size }) else { return (entries, nil) }
        // What lies behind the first missing sample in decode order could only be decoded by luck.
        let missing = entries[first...]
        let times = missing.map(\.timestamp)
        let step = times.count > 1 ? times[times.endIndex - 1] &- times[times.endIndex - 2] : 0
        return (
            Array(entries[..<first]),
            MissingEnd(
                frames: missing.count { !$0.isDiscarded }, end: times.max().map { $0 &+ max(1, step) },
                words: "The file is cut off: \(missing.count) samples that its index names are not there.")
        )
    }

    private struct Ends {
        var keyframes: [Keyframe]
        var start: Int64
        var end: Int64
        var last: LastPicture
        var undecodable: Int
        var tellsDecodeOrderOnly: Bool
    }

    /// Reads from the first sample until the first owned picture and all that are shown before it are known.
    private func readStart(_ demuxer: Demuxer, isMOV: Bool, first: Demuxer.IndexEntry) throws -> Ends? {
        var collector = KeyframeCollector(track)
        var count = 0
        while count < 4_000, let sample = try demuxer.readToEnd() {
            guard sample.track == track.index else { continue }
            count += 1
            if let start = collector.firstOwned, let dts = sample.dts, dts > start, collector.isLeadingSettled { break }
            collector.add(sample)
        }
        guard let index = collector.finish(origin: .container) else { return nil }
        // An edit may begin groups later than the track.
        let opening = index.keyframes.keyframes.prefix { $0.pts <= index.keyframes.start }
        return Ends(
            keyframes: Array(opening.isEmpty ? index.keyframes.keyframes.prefix(1) : opening),
            start: index.keyframes.start,
            end: index.keyframes.end, last: collector.last, undecodable: index.undecodable,
            tellsDecodeOrderOnly: collector.tellsDecodeOrderOnly)
    }

    /// The entry that lies twice the 16 places before the last one shown by which pictures are reordered at most (Rec. ITU-T H.264
    /// §A.3.1, MaxDpbFrames). An edit list may end long before the media.
    private static func entryBeforeEnd(_ entries: [Demuxer.IndexEntry]) -> Demuxer.IndexEntry {
        let last = entries.lastIndex { !$0.isDiscarded } ?? entries.count - 1
        return entries[max(0, last - 32)]
    }

    /// Reads the last samples for the exact end of the last picture.
    ///
    /// - Parameter sample: where to begin, where any sample can be sought.
    /// - Returns: `false` where there is no sample.
    private func readEnd(
        _ demuxer: Demuxer, from sample: Demuxer.IndexEntry?, lastSync: Demuxer.IndexEntry, into reading: inout Ends
    ) throws -> Bool {
        var isThere = false
        if let sample {
            try demuxer.seek(track: track.index, toTicks: sample.timestamp, anySample: true)
        } else {
            try demuxer.seek(track: track.index, toTicks: lastSync.timestamp)
        }
        while let sample = try demuxer.readToEnd() {
            guard sample.track == track.index else { continue }
            isThere = true
            guard !sample.isDiscarded, let pts = sample.pts else { continue }
            reading.last.add(pts, duration: sample.duration)
        }
        reading.end = reading.last.end ?? reading.end
        return isThere
    }

    /// The keyframes from the last clean cut not after `time` to the first not before it, as far as there are any near.
    private func readCuts(
        _ demuxer: Demuxer, around time: Int64, among syncs: [Demuxer.IndexEntry], isMOV: Bool
    ) throws -> [Keyframe] {
        let patience = 16
        // A picture is shown no earlier than it is decoded: those behind this place are shown behind `time`.
        let place = syncs.firstIndex { $0.timestamp > time } ?? syncs.count
        var found: [Keyframe] = []
        var known = place
        for number in stride(from: place - 1, through: max(0, place - patience), by: -1) {
            guard let keyframe = try readKeyframe(demuxer, at: syncs[number], isMOV: isMOV) else { continue }
            found.append(keyframe)
            if keyframe.pts >= time, keyframe.isCleanCut { known = number }
            if keyframe.pts <= time, keyframe.isCleanCut { break }
        }
        guard known == place else { return found }
        for entry in syncs[place...].prefix(patience) {
            guard let keyframe = try readKeyframe(demuxer, at: entry, isMOV: isMOV) else { continue }
            found.append(keyframe)
            if keyframe.isCleanCut { break }
        }
        return found
    }

    /// Reads one keyframe and, behind it, its leading pictures.
    private func readKeyframe(_ demuxer: Demuxer, at entry: Demuxer.IndexEntry, isMOV: Bool) throws -> Keyframe? {
        try demuxer.seek(track: track.index, toTicks: entry.timestamp)
        var found: Keyframe?
        var patience = 512
        while patience > 0, let sample = try demuxer.readToEnd() {
            guard sample.track == track.index else { continue }
            patience -= 1
            guard let pts = sample.pts ?? sample.dts else { continue }
            if var keyframe = found {
                if pts >= keyframe.pts { return keyframe }
                keyframe.leading += 1
                found = keyframe
            } else if sample.isSync,
                isMOV ? sample.dts == entry.timestamp || sample.position == entry.position : pts >= entry.timestamp
            {
                found = Keyframe(
                    pts: pts, dts: sample.dts ?? pts, position: sample.position ?? -1,
                    kind: RandomAccessPoint.kind(of: sample))
            }
        }
        return found
    }
}

extension Keyframe {
    /// As it is where only decode times are known: an open group may have leading pictures, and so is no place to enter at.
    fileprivate var withoutTimes: Keyframe {
        var keyframe = self
        if kind == .open { keyframe.kind = .doubtful }
        return keyframe
    }

    /// All that is decoded before it is shown before it, and nothing from it on needs what is before.
    package var isCleanCut: Bool { leading == 0 && kind.isUsable }
}

/// Gathers keyframes, the range of owned pictures and the reorder depth from samples in decode order.
private struct KeyframeCollector {
    private let timeBase: TimeBase
    private var keyframes: [Keyframe] = []
    private var ordinal = 0
    private var untimed = 0
    private var jumps: [TimelineJump] = []
    /// Times of the owned pictures.
    private var shown: [Int64] = []
    private var start: Int64?
    private(set) var last = LastPicture()
    private var undecodable = 0
    /// The keyframe whose leading pictures are still being counted.
    private var isCountingLeading = false
    private var recent = ReorderGauge()
    private var opening = OpeningPictures()
    private var visibility = SampleVisibility()
    /// Pictures that wait for the opening to be settled.
    private var waiting: [Picture] = []

    private struct Picture {
        var pts: Int64
        var duration: Int64
        var isOwned: Bool
    }

    /// The container gives no times but those of decoding although the codec reorders: which pictures a keyframe leads cannot be seen.
    private(set) var tellsDecodeOrderOnly: Bool

    init(_ track: Track) {
        timeBase = track.timeBase
        tellsDecodeOrderOnly = track.format.reorderDepth > 0
    }

    /// No sample came.
    var isEmpty: Bool { ordinal == 0 }
    /// PTS of the earliest owned picture so far.
    var firstOwned: Int64? { start }
    var isLeadingSettled: Bool { opening.isSettled && !isCountingLeading }

    /// Notes where the times of samples part from what the source says.
    mutating func add(_ item: ProgramReader.Item) {
        if let raw = item.raw, let dts = item.sample.dts ?? item.sample.pts,
            item.isJump || (ordinal == 0 && raw != dts)
        {
            jumps.append(
                TimelineJump(ordinal: ordinal, position: item.sample.position ?? -1, raw: raw, dts: dts))
        }
        add(item.sample)
    }

    mutating func add(_ sample: Sample) {
        defer { ordinal += 1 }
        if sample.pts == nil { untimed += 1 }
        guard let pts = sample.pts ?? sample.dts else { return }
        if let pts = sample.pts, pts != sample.dts { tellsDecodeOrderOnly = false }
        if RandomAccessPoint.isStart(sample, isFirst: ordinal == 0) {
            keyframes.append(
                Keyframe(
                    pts: pts, dts: sample.dts ?? pts, position: sample.position ?? -1, ordinal: ordinal,
                    kind: RandomAccessPoint.kind(of: sample)))
            isCountingLeading = true
        } else if isCountingLeading, let last = keyframes.indices.last {
            if pts < keyframes[last].pts { keyframes[last].leading += 1 } else { isCountingLeading = false }
        }
        recent.add(pts)
        let picture = Picture(
            pts: pts, duration: sample.duration, isOwned: visibility.isShown(sample) && !sample.isDiscarded)
        if opening.isSettled { return take(picture) }
        opening.add(sample)
        waiting.append(picture)
        if opening.isSettled { takeWaiting() }
    }

    private mutating func takeWaiting() {
        for picture in waiting { take(picture) }
        waiting = []
    }

    private mutating func take(_ picture: Picture) {
        if let first = opening.firstShown, picture.pts < first {
            undecodable += 1
            return
        }
        guard picture.isOwned else { return }
        shown.append(picture.pts)
        start = min(start ?? picture.pts, picture.pts)
        last.add(picture.pts, duration: picture.duration)
    }

    mutating func finish(origin: KeyframeIndex.Origin) -> SourceIndex? {
        opening.finish()
        takeWaiting()
        guard let start, let end = last.end else { return nil }
        if tellsDecodeOrderOnly { keyframes = keyframes.map(\.withoutTimes) }
        var index = KeyframeIndex(
            timeBase: timeBase, keyframes: keyframes, start: start, end: end, sampleCount: ordinal, origin: origin)
        index.jumps = jumps
        index.innerCuts = InnerCuts.find(inShown: shown.sorted(), keyframes: keyframes, timeBase: timeBase)
        var found = SourceIndex(
            keyframes: index,
            undecodable: undecodable, syncSampleCount: keyframes.count, bytesRead: 0, bytesTotal: 0,
            reorderDepth: recent.depth)
        found.untimed = untimed
        return found
    }
}

/// The picture that is shown last, for the end of the track.
private struct LastPicture {
    private var pts: Int64?
    private var duration: Int64 = 0
    private var previous: Int64?

    mutating func add(_ time: Int64, duration: Int64) {
        guard let pts else {
            (self.pts, self.duration) = (time, duration)
            return
        }
        if time > pts {
            previous = pts
            (self.pts, self.duration) = (time, duration)
        } else if time < pts {
            previous = max(previous ?? time, time)
        }
    }

    /// Where the picture's duration is not known, it is taken to be as long as the one before it.
    var end: Int64? {
        guard let pts else { return nil }
        let length = duration > 0 ? duration : previous.map { pts &- $0 } ?? 1
        return pts &+ max(1, length)
    }
}

/// The reorder depth of a stream of presentation times, with a short memory.
private struct ReorderGauge {
    /// Times of the last pictures, sorted.
    private var window: [Int64] = []
    private(set) var depth = 0

    mutating func add(_ pts: Int64) {
        // How many earlier-decoded pictures are shown after this one.
        var index = window.count
        while index > 0, window[index - 1] > pts { index -= 1 }
        depth = max(depth, window.count - index)
        window.insert(pts, at: index)
        if window.count > 32 { window.removeFirst() }
    }
}
