package import MediaTime

/// Turns the raw times of all tracks of one program into one time line, so that what is in step stays in step.
///
/// MPEG streams wrap (`TimestampWrap`), restart where pieces were joined and jump. A program has one clock (ISO/IEC 13818-1
/// §2.4.2.1), so its tracks jump together: a track that falls silent while others go on has paused. Where a track leaves its line
/// by itself, the new *epoch* is laid out only once its other tracks were seen to follow or to go on: then it starts where all that
/// was before has ended, and no track of it overlaps its own past. All tracks of an epoch are moved by the same amount.
///
/// Items come in the file's order and leave in it, some of them later.
package struct ProgramClock<Item> {
    /// What the clock is told of an item.
    package struct Stamp {
        package var track: Int
        package var dts: Int64?
        package var pts: Int64?
        /// Ticks; 0 where unknown.
        package var duration: Int64
        /// Picture and sound, whose times go on without holes and decide; subtitles and data follow.
        package var isDense: Bool
        package var size: Int

        package init(track: Int, dts: Int64?, pts: Int64?, duration: Int64, isDense: Bool = true, size: Int = 0) {
            self.track = track
            self.dts = dts
            self.pts = pts
            self.duration = duration
            self.isDense = isDense
            self.size = size
        }
    }

    /// An item on the one time line.
    package struct Placed {
        package var item: Item
        package var dts: Int64?
        package var pts: Int64?
        /// The first of its track in an epoch that is not the one before.
        package var isJump: Bool
    }

    /// One run of the program's clock; times in it are the source's, unwrapped.
    private struct Epoch {
        /// Added to its times; `nil` while it is not laid out.
        var offset: Int128?
        /// The latest decode time of a dense track.
        var head: Int128
    }

    private struct Line {
        var epoch: Int
        var last: Int128
        var duration: Int128
        /// Where its samples so far end, in its epoch's times.
        var end: Int128
    }

    /// A dense track that has entered the open epoch.
    private struct Entrant {
        /// Where it ended before, on the time line; `nil` for a track that begins here.
        var end: Int128?
        /// Its earliest time in the epoch.
        var first: Int128
    }

    private struct Held {
        var item: Item
        var stamp: Stamp
        var epoch: Int
        var dts: Int128
        var pts: Int128?
        var isJump: Bool
    }

    /// A step back beyond this, or ahead beyond `gap`, is no irregular sample.
    private let backstep: Int128
    private let gap: Int128
    private let wrap: TimestampWrap
    private var epochs: [Epoch] = []
    private var lines: [Int: Line] = [:]
    private var entrants: [Int: Entrant] = [:]
    private var held: [Held] = []
    private var heldSize = 0
    private var isOpen = false
    /// Where the epoch before the open one stood when that was begun, and the line that its first sample left.
    private var formerHead: Int128 = 0
    private var left: (track: Int, line: Line)?
    private var ready: [Placed] = []

    /// How often the program's clock was set anew.
    package private(set) var jumps = 0

    /// Held at most before an epoch is laid out.
    private static var countLimit: Int { 2_000 }
    private static var sizeLimit: Int { 64 << 20 }
    /// Samples that show an epoch's earliest time: pictures are reordered by at most 16 places (Rec. ITU-T H.264 §A.3.1).
    private static var enough: Int { 20 }

    /// - Parameter joinsPieces: false for a file that is one piece: every step but the wrap is its own.
    package init(timeBase: TimeBase, joinsPieces: Bool = true) {
        let second = Int128(max(1, Int64(timeBase.denominator) / Int64(timeBase.numerator)))
        backstep = joinsPieces ? second / 2 : Int128(1) << 100
        gap = joinsPieces ? second * 10 : Int128(1) << 100
        wrap = TimestampWrap(timeBase: timeBase, isEnabled: true)
    }

    /// - Returns: the items that are placed now, in order.
    package mutating func add(_ item: Item, _ stamp: Stamp) -> [Placed] {
        guard let raw = stamp.dts ?? stamp.pts else {
            guard isOpen else { return [Placed(item: item, dts: nil, pts: nil, isJump: false)] }
            hold(Held(item: item, stamp: stamp, epoch: epochs.count - 1, dts: 0, pts: nil, isJump: false))
            return take()
        }
        let wasStray = stamp.isDense && returnsFromStray(stamp.track, raw)
        let (epoch, time) = stamp.isDense ? locate(stamp, raw) : locateSparse(stamp, raw)
        let shown = stamp.pts.map { wrap.unwrapped($0, near: time) }
        let isJump = wasStray || (lines[stamp.track].map { $0.epoch != epoch } ?? (epoch > 0))
        note(stamp, epoch, time, shown ?? time)
        let held = Held(item: item, stamp: stamp, epoch: epoch, dts: time, pts: shown, isJump: isJump)
        guard isOpen else {
            ready.append(placed(held))
            return take()
        }
        hold(held)
        if isSettled { layOut() }
        return take()
    }

    /// The source has ended.
    package mutating func finish() -> [Placed] {
        if isOpen { layOut() }
        return take()
    }

    private mutating func take() -> [Placed] {
        defer { ready = [] }
        return ready
    }

    // MARK: Which epoch

    private mutating func locate(_ stamp: Stamp, _ raw: Int64) -> (epoch: Int, time: Int128) {
        guard let latest = epochs.indices.last else {
            epochs.append(Epoch(offset: 0, head: Int128(raw)))
            return (0, Int128(raw))
        }
        guard let line = lines[stamp.track] else { return (latest, wrap.unwrapped(raw, near: epochs[latest].head)) }
        let time = wrap.unwrapped(raw, near: line.last)
        let step = time - line.last
        if step >= -backstep, step <= gap || time - epochs[line.epoch].head <= gap { return (line.epoch, time) }
        if let other = otherEpoch(than: line.epoch, of: stamp.track, raw) { return other }
        if isOpen { layOut() }
        left = (stamp.track, line)
        begin(after: line.epoch, at: Int128(raw))
        return (epochs.count - 1, Int128(raw))
    }

    /// An epoch in which other dense tracks are, or which was begun since, and into which this time fits: the newest.
    private func otherEpoch(than epoch: Int, of track: Int, _ raw: Int64) -> (epoch: Int, time: Int128)? {
        for candidate in epochs.indices.suffix(8).reversed() where candidate != epoch {
            guard candidate > epoch || lines.contains(where: { $0.key != track && $0.value.epoch == candidate }) else {
                continue
            }
            let time = wrap.unwrapped(raw, near: epochs[candidate].head)
            if abs(time - epochs[candidate].head) <= gap { return (candidate, time) }
        }
        return nil
    }

    private mutating func locateSparse(_ stamp: Stamp, _ raw: Int64) -> (epoch: Int, time: Int128) {
        guard !epochs.isEmpty else {
            // Nothing dense has come yet: the clock begins here.
            epochs.append(Epoch(offset: 0, head: Int128(raw)))
            return (0, Int128(raw))
        }
        var best: (epoch: Int, time: Int128, distance: Int128)?
        for candidate in epochs.indices.suffix(2).reversed() {
            let time = wrap.unwrapped(raw, near: epochs[candidate].head)
            let distance = abs(time - epochs[candidate].head)
            if best.map({ distance < $0.distance }) ?? true { best = (candidate, time, distance) }
        }
        return best.map { ($0.epoch, $0.time) } ?? (epochs.count - 1, Int128(raw))
    }

    private mutating func begin(after epoch: Int, at time: Int128) {
        formerHead = epochs[epoch].head
        epochs.append(Epoch(offset: nil, head: time))
        isOpen = true
        entrants = [:]
        jumps += 1
    }

    private mutating func note(_ stamp: Stamp, _ epoch: Int, _ time: Int128, _ shown: Int128) {
        guard stamp.isDense else { return }
        epochs[epoch].head = max(epochs[epoch].head, time)
        let former = lines[stamp.track]
        var length = Int128(max(0, stamp.duration))
        if length == 0 { length = former?.duration ?? 1 }
        let end = max(shown, time) + max(1, length)
        if var line = former, line.epoch == epoch {
            if stamp.duration <= 0, time > line.last { line.duration = time - line.last }
            line.last = max(line.last, time)
            line.end = max(line.end, end)
            lines[stamp.track] = line
            if let entrant = entrants[stamp.track], shown < entrant.first { entrants[stamp.track]?.first = shown }
            return
        }
        lines[stamp.track] = Line(epoch: epoch, last: time, duration: length, end: end)
        guard isOpen, epoch == epochs.count - 1 else { return }
        let past = former.flatMap { line in epochs[line.epoch].offset.map { line.end + $0 } }
        entrants[stamp.track] = Entrant(end: past, first: shown)
    }

    /// A few samples of one track with a damaged time are no new epoch: the track returns to its line right behind them, and nothing
    /// else has left its own. They belong where they stand.
    private mutating func returnsFromStray(_ track: Int, _ raw: Int64) -> Bool {
        guard isOpen, let left, left.track == track, entrants.count == 1, entrants[track] != nil, let own = lines[track]
        else { return false }
        let open = epochs.count - 1
        let strays = held.indices.filter { held[$0].epoch == open }
        guard strays.count <= Self.enough, strays.allSatisfy({ held[$0].stamp.track == track }) else { return false }
        let step = wrap.unwrapped(raw, near: left.line.last) - left.line.last
        let other = wrap.unwrapped(raw, near: own.last) - own.last
        let length = max(1, left.line.duration)
        guard step >= 0, step <= backstep + Int128(strays.count) * length, abs(other) > backstep else { return false }
        var line = left.line
        for index in strays {
            let moved = line.last + length - held[index].dts
            held[index].dts += moved
            held[index].pts = held[index].pts.map { $0 + moved }
            held[index].epoch = line.epoch
            held[index].isJump = true
            line.last = held[index].dts
            line.end = max(line.end, (held[index].pts ?? line.last) + length)
        }
        lines[track] = line
        epochs.removeLast()
        jumps -= 1
        isOpen = false
        ready += held.map { placed($0) }
        (held, heldSize, entrants, self.left) = ([], 0, [:], nil)
        return true
    }

    // MARK: Holding

    private mutating func hold(_ item: Held) {
        held.append(item)
        heldSize += item.stamp.size
    }

    /// Every track that was going on has entered the open epoch, or goes on without.
    private var isSettled: Bool {
        if held.count >= Self.countLimit || heldSize >= Self.sizeLimit { return true }
        guard held.count >= Self.enough else { return false }
        let open = epochs.count - 1
        return lines.allSatisfy { _, line in
            guard line.epoch != open else { return true }
            let head = epochs[line.epoch].head
            // One that had stopped before, or that has gone on for long.
            return head - line.last > gap || head - formerHead > gap / 2
        }
    }

    private mutating func layOut() {
        let open = epochs.count - 1
        let offsets = entrants.values.compactMap { entrant in entrant.end.map { $0 - entrant.first } }
        epochs[open].offset = offsets.max() ?? epochs.dropLast().last?.offset ?? 0
        isOpen = false
        ready += held.map { placed($0) }
        held = []
        heldSize = 0
        entrants = [:]
    }

    private func placed(_ held: Held) -> Placed {
        guard (held.stamp.dts ?? held.stamp.pts) != nil else {
            return Placed(item: held.item, dts: nil, pts: nil, isJump: false)
        }
        let offset = epochs[held.epoch].offset ?? 0
        return Placed(
            item: held.item, dts: held.stamp.dts == nil ? nil : Int64(clamping: held.dts + offset),
            pts: held.pts.map { Int64(clamping: $0 + offset) }, isJump: held.isJump)
    }
}
