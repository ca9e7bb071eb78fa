package import ClusterProtocol
package import Media
package import SegmentPlan

/// Holds the pictures that came out of a decoder against the samples that went in, and says what damage did to them.
///
/// A picture that is missing is excused only by evidence: a sample that the decoder (or the container) called bad, whose picture it
/// is, or which was under way with it, or after which no keyframe has come out right yet. From the next keyframe that comes out
/// right, nothing is excused until the next bad sample. What is missing for no such reason stays missing, and the proof finds it.
package struct PictureLedger {
    /// A picture that did not come out.
    package struct Loss: Hashable, Sendable {
        package var time: Int64
        /// Time of the bad sample that explains it.
        package var cause: Int64
    }

    private struct Trouble {
        /// Place in decode order, and time, of the bad sample.
        var number: Int
        var time: Int64
    }

    private let segment: Segment
    private var visibility = SampleVisibility()
    /// Places in decode order of the segment's pictures that have not come out yet, by time: damage gives two samples one time.
    private var expected: [Int64: [Int]] = [:]
    /// Places in decode order of all samples by time, and of those whose pictures came out right.
    private var numbers: [Int64: Int] = [:]
    private var right: Set<Int> = []
    private var keyframes: Set<Int> = []
    private var count = 0
    /// How many samples have a time, less the pictures that came out with it.
    private var awaited: [Int64: Int] = [:]
    /// Times of intact samples whose pictures are under way.
    private var underWay: Set<Int64> = []
    /// The latest time that came out, and the pictures that damage made come out behind it, with the bad sample's time.
    private var newest = Int64.min
    private var late: [Int64: Int64] = [:]
    private var troubles: [Trouble] = []
    private var bad: Set<Int> = []
    private var firstShown: Int64?
    private var isFirstHidden = false
    /// Pictures of the segment in which the decoder made something up, or the container says that bytes are missing.
    package private(set) var concealed: Set<Int64> = []
    /// What was said of the first bad sample.
    package private(set) var words: String?

    /// Times of the samples in decode order, as long as the container gives none but these although the codec reorders:
    /// then the n-th picture out of the decoder has the n-th of them.
    private var decodeOrder: ArraySlice<Int64>?
    /// The codec's decoder marks the pictures that it mends (`Frame.isConcealed`); one that does not only logs what is wrong.
    private let marksPictures: Bool
    /// Pictures wait for at most so many others (Rec. ITU-T H.264 §A.3.1, MaxDpbFrames).
    private static let reach = 16

    package init(_ segment: Segment, format: FormatDescription) {
        self.segment = segment
        decodeOrder = format.reorderDepth > 0 ? [] : nil
        marksPictures = format.codecName != "hevc"
    }

    /// Stands for the time of a sample that has none, between others that have: the rest of one whose head is lost. Its picture has no
    /// place in the film, and a decoder's guess would push aside those that follow.
    static let noTime = Int64.max - 1

    private func isOwned(_ time: Int64) -> Bool { time >= segment.start && time < segment.end }

    /// The sample that was sent last would make the decoder drop the pictures that wait in it.
    var dropsWaiting: Bool { visibility.dropsWaiting }

    package var hasTrouble: Bool { !troubles.isEmpty }
    /// How many samples were bad.
    package var badSamples: Int { bad.count }

    // MARK: Taking notes

    package mutating func sent(_ sample: Sample) {
        guard let time = sample.pts ?? sample.dts else { return }
        count += 1
        numbers[time] = count
        if sample.isSync { keyframes.insert(count) }
        if sample.isCorrupt || sample.size == 0 { note(sample, "The container calls the sample damaged.") }
        if let words = BrokenUnits.find(in: sample) { note(sample, words) }
        if let pts = sample.pts, pts != sample.dts { decodeOrder = nil }
        guard visibility.isShown(sample), !sample.isDiscarded else {
            if count == 1 { isFirstHidden = true }
            return
        }
        decodeOrder?.append(time)
        awaited[time, default: 0] += 1
        if !bad.contains(count) { underWay.insert(time) }
        if isOwned(time) { expected[time, default: []].append(count) }
    }

    /// The decoder refused the sample that was sent last.
    package mutating func failed(_ sample: Sample, _ error: MediaError) {
        note(sample, error.log.last ?? error.message)
        if let last = decodeOrder?.last, last == sample.pts ?? sample.dts { decodeOrder?.removeLast() }
    }

    /// The decoder took the sample that was sent last, but had words about it.
    package mutating func complained(_ sample: Sample, _ words: String) { note(sample, words) }

    private mutating func note(_ sample: Sample, _ words: String) {
        guard SampleVisibility.holdsPicture(sample), let time = sample.pts ?? sample.dts, bad.insert(count).inserted
        else { return }
        troubles.append(Trouble(number: count, time: time))
        underWay.remove(time)
        self.words = self.words ?? words
    }

    /// The decoder made parts of the picture up.
    func isMended(_ frame: Frame) -> Bool {
        frame.isConcealed || (!marksPictures && frame.pts.flatMap { numbers[$0] }.map { bad.contains($0) } ?? false)
    }

    /// An intact sample that is shown before this time has given no picture yet.
    func awaitsEarlier(than time: Int64) -> Bool { underWay.contains { $0 < time } }

    /// The pictures' own times tell their order.
    var tellsTimes: Bool { decodeOrder == nil }

    /// - Returns: the picture's time; `nil` where nothing tells it.
    package mutating func received(_ frame: Frame) -> Int64? {
        let time = decodeOrder?.popFirst() ?? frame.pts
        guard let time, time != Self.noTime else { return nil }
        // Of a damaged sample libavcodec makes two pictures at times (a field or slice that seems to begin another): one is enough.
        if let left = awaited[time], left <= 0, hasTrouble { return nil }
        awaited[time, default: 0] -= 1
        // A picture that was stuck in a decoder: its place in the film is past.
        if time < newest, let trouble = troubles.last {
            late[time] = trouble.time
            return nil
        }
        newest = max(newest, time)
        if !underWay.isEmpty { underWay = underWay.filter { $0 > time } }
        let number = numbers[time]
        let isMended = frame.isConcealed || (!marksPictures && number.map { bad.contains($0) } ?? false)
        if let number, !isMended, !bad.contains(number) { right.insert(number) }
        guard isOwned(time) else { return time }
        if var places = expected[time] {
            // Of two samples with one time the first comes out first.
            places.removeFirst()
            expected[time] = places.isEmpty ? nil : places
            firstShown = min(firstShown ?? time, time)
        }
        if isMended { concealed.insert(time) }
        return time
    }

    // MARK: Answers

    /// Whether everything is as it should be now that this picture, the first of the segment, came out.
    func opensWell(at time: Int64) -> Bool {
        troubles.isEmpty && concealed.isEmpty && !expected.keys.contains { $0 < time }
    }

    /// The picture of the first sample came out right, or is one that is not shown.
    var isEntryRight: Bool { right.contains(1) || (isFirstHidden && !bad.contains(1)) }

    /// Not every picture of the segment came out.
    package var isLacking: Bool { !expected.isEmpty }

    /// Nothing of the segment came out although something should have.
    var isBarren: Bool { firstShown == nil && !expected.isEmpty }

    /// The segment's pictures that did not come out and why, in order of time; one entry for each, also where two share a time.
    ///
    /// - Parameter anyRecovers: a bad sample excuses nothing from the next picture on that comes out right, keyframe or not: for the
    ///   question where good pictures begin, which what refers to nothing at all must not answer.
    package func losses(anyRecovers: Bool = false) -> [Loss] {
        let recoveries = (anyRecovers ? right : right.intersection(keyframes)).sorted()
        return missing.compactMap { time, number in
            if let cause = late[time] ?? cause(of: number, recoveries) { return Loss(time: time, cause: cause) }
            // Before a film's first picture there may be samples that only lead to it (H.264 §D.2.8).
            if segment.index == 0, let firstShown, time < firstShown { return Loss(time: time, cause: time) }
            return nil
        }
    }

    /// The segment's pictures that did not come out and that a plain pass of the decoder does not give either; each with the bad
    /// sample that explains it, or else its own time: some damage no decoder has words for.
    ///
    /// What only this ledger lacks is no damage of the source, however bad the samples around it are.
    package func losses(confirmedBy pass: PlainPass) -> [Loss] {
        var causes: [Int64: [Int64]] = [:]
        for loss in losses() { causes[loss.time, default: []].append(loss.cause) }
        // Which of the track's first samples only lead to the first picture, and which time a picture has that is given none, only
        // the ledger knows.
        guard pass.tellsTimes else { return losses() }
        var confirmed: [Loss] = []
        for (time, places) in Dictionary(grouping: missing, by: \.time) {
            let known = causes[time] ?? []
            for number in 0..<min(places.count, pass.lacking(at: time)) {
                confirmed.append(Loss(time: time, cause: number < known.count ? known[number] : time))
            }
        }
        return confirmed.sorted { ($0.time, $0.cause) < ($1.time, $1.cause) }
    }

    private var missing: [(time: Int64, number: Int)] {
        expected.flatMap { time, numbers in numbers.map { (time, $0) } }.sorted { $0 < $1 }
    }

    private func cause(of number: Int, _ recoveries: [Int]) -> Int64? {
        for trouble in troubles.reversed() where trouble.number <= number {
            // The first keyframe decoded after the bad sample that came out right ends its reach: until then pictures may refer to it.
            let recovery = recoveries.first { $0 > trouble.number } ?? .max
            return number < recovery ? trouble.time : nil
        }
        // Under way when a bad sample came.
        return troubles.first { $0.number > number && $0.number <= number + Self.reach }?.time
    }
}

extension SampleTable.Damage {
    package init(_ ledger: PictureLedger) {
        self.init(
            dropped: ledger.losses().map { Loss(time: $0.time, cause: $0.cause) }, concealed: ledger.concealed.sorted())
    }
}
