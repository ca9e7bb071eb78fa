internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// Reads the source once, in step with the stitch: delivers the samples of the tracks that travel beside the picture, and
/// notes the picture track's own times, which the proof holds the segments against.
///
/// Used from one thread.
final class SourceFeed {
    /// One carried track on its way to the output.
    private final class Lane {
        let track: Track
        let offset: Int64
        var clock: SampleClock?
        var form = SoundFormatWatch()
        let transcoder: AudioTranscoder?
        let text: SubtitleTranscoder?
        /// Cues are cut to the exported range.
        let cues: CueRange?
        var queue: [Sample] = []
        var head = 0
        /// What is still to be encoded, while a gap before it is filled.
        var work: [Work] = []
        var workHead = 0
        /// Sound is looked at one packet ahead; times on the unrolled time line.
        var held: Sample?
        /// Where the sound delivered so far ends, in ticks of the track.
        var soundEnd: Int64?
        /// How long a packet of sound lasts whose container does not tell: as the one before.
        var untoldLength: Int64 = 0
        /// How far reading has come, in nanoseconds of source time.
        var front = Int64.min
        /// Sparse tracks (subtitles) do not hold the others up.
        let isDense: Bool
        /// The source tells its samples' times.
        var isTimed = false
        /// The source's samples in the exported range.
        var read = CarriedTally.Extent()
        /// Samples until damage of the container is taken for past.
        var nearScar = 0
        /// Where sound is missing because of it: ticks of the track, on the source's time line.
        var holes: [Range<Int64>] = []

        init(
            track: Track, offset: Int64, transcoder: AudioTranscoder?, text: SubtitleTranscoder?, cues: CueRange?
        ) {
            (self.text, self.cues) = (text, cues)
            self.track = track
            self.offset = offset
            self.transcoder = transcoder
            isDense = track.mediaType == .audio
            clock =
                track.mediaType == .audio && transcoder == nil
                ? SampleClock(sourceTimeBase: track.timeBase, sampleRate: track.format.sampleRate) : nil
        }
    }

    private enum Work {
        case sample(Sample), end, flush
    }

    private var demuxer: Demuxer
    private let job: StitchJob
    private let interrupt: InterruptFlag
    /// Samples of the picture track read until now.
    private var picturesRead = 0
    private var isAlone = false
    private let videoTrack: Track
    private var reader: ProgramReader
    private var lanes: [Lane] = []
    private var laneOfTrack: [Int: Int] = [:]
    /// How far reading has come, in nanoseconds of source time.
    private var front = Int64.min
    private var isAtEnd = false
    private let range: ClosedEnd
    /// Shown pictures read but not yet asked for, in ticks of the picture track.
    private var pictureTimes: [Int64] = []
    private var videoFront = Int64.min
    /// Copied sound of which the container tells only the beginning's form.
    private var changedSound: [String] = []
    /// The picture's samples in decode order, kept where the picture is copied.
    private var pictures: [CopiedSegment.Picture] = []
    private var visibility = SampleVisibility()
    private let copiesPicture: Bool
    private let looksForCaptions: Bool
    /// Pictures of the exported range with closed captions, where they are looked for.
    private(set) var captionedPictures = 0
    /// Where the exported picture ends, nanoseconds of the output; `nil` where the container is no movie.
    private let movieEnd: Int64?
    private let pictureRange: PictureRange
    /// Where the container is damaged, in decode times of the picture.
    private(set) var scars = SourceScars()
    private var lastPicture: Int64?
    private var hasNewScar = false
    /// What is to be said about reading the source.
    private(set) var remarks: [String] = []
    /// Times of the copied pictures that the source's edit list hides behind its start, and of the last one that it shows.
    private var hiddenTimes: [Int64] = []
    private var lastShown = Int64.min
    /// How many of them are shown all the same.
    private(set) var shownBehindEnd = 0

    /// When the pictures begin that are copied and hidden at the end of the track, in its ticks.
    var hiddenEnd: Int64? { hiddenTimes.filter { $0 > lastShown }.min() }

    /// Samples that were copied although the container calls them damaged, by track.
    private var copiedDamaged: [Int: Int] = [:]

    /// The exported range in nanoseconds of source time, for the copied tracks.
    private struct ClosedEnd {
        var start: Int64?
        var end: Int64?
    }

    /// Which of the picture's samples are wanted, in ticks of its track.
    private struct PictureRange {
        var start = Int64.min
        var end: Int64?
        /// Decode time from which samples that an edit list leaves out are copied, as the range's first pictures refer to them.
        var preRoll = Int64.max

        init(_ job: StitchJob) {
            guard let first = job.segments.first, let last = job.segments.last else { return }
            start = first.start
            if job.rangeEnd != nil { end = last.end }
            if job.copiesPicture, first.keyframe.pts < first.start, OutputContainer(job.container).holdsNegativeTimes {
                preRoll = first.entry.dts
            }
        }
    }

    init(_ job: StitchJob, interrupt: InterruptFlag) throws(Failure) {
        self.job = job
        self.interrupt = interrupt
        do {
            demuxer = try Self.open(job, interrupt: interrupt)
        } catch {
            throw Failure(error, role: .source)
        }
        guard demuxer.tracks.count == job.tracks.count, job.tracks.indices.contains(job.videoTrack) else {
            throw Failure(
                .asset, "\(job.source) changed: its tracks are not those that were planned.", exitCode: .badSource)
        }
        videoTrack = job.tracks[job.videoTrack]
        copiesPicture = job.copiesPicture
        looksForCaptions = job.captionLoss != nil
        movieEnd =
            job.container.isMovie
            ? job.segments.last.map { $0.end.nanoseconds(in: job.timeBase) &- job.origin.nanoseconds } : nil
        pictureRange = PictureRange(job)
        reader = ProgramReader(
            demuxer, tracks: Set(job.carried.filter { !$0.isEnclosure }.map(\.track) + [job.videoTrack]),
            survivesDamage: true)
        range = ClosedEnd(
            start: job.isRanged ? job.origin.nanoseconds : nil, end: job.rangeEnd.map(\.nanoseconds))
        for carried in job.carried where job.tracks.indices.contains(carried.track) && !carried.isEnclosure {
            let track = job.tracks[carried.track]
            let transcoder = try carried.encoding.map { encoding throws(Failure) in
                try AudioTranscoder(
                    track: track, encoding: encoding, start: job.isRanged ? job.origin : nil, end: job.rangeEnd,
                    film: job.durationSeconds)
            }
            let offset: Int64
            do {
                offset = try job.origin.ticks(in: track.timeBase)
            } catch {
                throw Failure(.timing, "The origin of \(job.source) does not fit its track \(track.index): \(error).")
            }
            laneOfTrack[carried.track] = lanes.count
            lanes.append(
                Lane(
                    track: track, offset: offset, transcoder: transcoder,
                    text: try carried.textEncoder.map { encoder throws(Failure) in
                        try SubtitleTranscoder(
                            track: track, encoder: encoder, holdsOverlaps: !job.container.isMovie)
                    }, cues: CueRange(job, track: track)))
        }
    }

    /// The tracks are known from the plan: where the header lists them, nothing need be probed for a second time.
    private static func open(_ job: StitchJob, interrupt: InterruptFlag) throws(MediaError) -> Demuxer {
        let demuxer = try Demuxer(location: job.source, interrupt: interrupt, probe: .header)
        if demuxer.isMovie, demuxer.tracks.count == job.tracks.count { return demuxer }
        return try Demuxer(location: job.source, interrupt: interrupt)
    }

    // MARK: What the output is told

    var laneCount: Int { lanes.count }

    /// Where the header of Matroska says that the film ends, counted from zero (RFC 9559 §5.1.2.10), in the picture's ticks; `nil` for
    /// others, and where the source is known to be cut off.
    var promisedEnd: Int64? {
        guard demuxer.cutOff == nil, demuxer.isMatroska else { return nil }
        return demuxer.duration.flatMap { try? $0.ticks(in: videoTrack.timeBase) }
    }

    /// The picture track as the source has it.
    var picture: Track { videoTrack }

    /// Samples of the lane are few and far between.
    func isSparse(lane: Int) -> Bool { !lanes[lane].isDense && lanes[lane].track.mediaType != .video }

    func track(ofLane lane: Int) -> Track { lanes[lane].track }

    func format(ofLane lane: Int) -> FormatDescription {
        lanes[lane].transcoder?.format ?? lanes[lane].text?.format ?? lanes[lane].track.format
    }

    func timeBase(ofLane lane: Int) -> TimeBase {
        lanes[lane].transcoder?.timeBase ?? lanes[lane].clock?.timeBase ?? lanes[lane].track.timeBase
    }

    /// How many samples all lanes will deliver, for the size of the index: what the container says, else one for every 5 ms.
    func expectedSamples(seconds: Double) -> Int {
        lanes.reduce(0) { sum, lane in
            let longest = max(seconds, Double(lane.track.durationTicks ?? 0).seconds(in: lane.track.timeBase))
            // What a damaged header says of lengths and counts is bounded: the index never takes more than its scale allows.
            let guess = Int(max(0, min(1e8, longest * (lane.isDense ? 200 : 5)))) + 16
            guard lane.transcoder == nil, let count = lane.track.sampleCount, count > 0 else { return sum + guess }
            return sum + min(100_000_000, Int(clamping: count))
        }
    }

    /// The first sample of a lane, without taking it; reads on until there is one or until `limit` nanoseconds are passed.
    func peek(lane: Int, readingUpTo limit: Int64) throws(Failure) -> Sample? {
        while try self.front(lane: lane) == nil, !isAtEnd, front < limit { try readOne() }
        return try self.front(lane: lane)
    }

    /// What the lane promises, once all is read; without what was written.
    func tally(ofLane index: Int) -> CarriedTally {
        let lane = lanes[index]
        var tally = CarriedTally(
            track: lane.track.index, mediaType: lane.track.mediaType, codec: format(ofLane: index).codecName,
            isCopy: lane.transcoder == nil && lane.text == nil)
        tally.read = lane.read
        tally.hasKnownGaps =
            lane.transcoder?.damage(of: lane.track).isEmpty == false || lane.transcoder?.lost.isEmpty == false
            || lane.text?.losses.isEmpty == false
        return tally
    }

    /// What encoding sound has cost.
    var soundLosses: [String] { lanes.flatMap { $0.transcoder?.lost ?? [] } + changedSound }
    var soundWarnings: [String] { lanes.flatMap { $0.transcoder?.warnings ?? [] } }

    /// libavformat writes KLV asynchronously, without times (mpegtsenc.c); whether the source had any shows when it is read.
    func timeLosses(in container: Container) -> [String] {
        guard container == .mpegTS else { return [] }
        return lanes.filter { $0.isTimed && $0.track.format.codecName == "klv" }.map {
            "The times of the KLV data in track \($0.track.index) are not carried: it lies in \(container) where it belongs, "
                + "but libavformat writes no times for it."
        }
    }

    /// What converting subtitles has cost.
    var textLosses: [String] { lanes.flatMap { $0.text?.losses ?? [] } }
    var textWarnings: [String] { lanes.flatMap { $0.text?.warnings ?? [] } }

    /// A cover picture; there from the opening on.
    func cover(ofTrack index: Int) -> Sample? { demuxer.attachedPicture(ofTrack: index) }

    /// The lane's samples are the source's own.
    func isCopy(lane: Int) -> Bool { lanes[lane].transcoder == nil && lanes[lane].text == nil }

    private func isCopied(_ track: Int) -> Bool { laneOfTrack[track].map { lanes[$0].transcoder == nil } ?? false }

    /// Where sound that was encoded again is silent because its packets are damaged.
    var damagedSound: [JobReport.Damage] {
        lanes.flatMap { lane in lane.transcoder?.damage(of: lane.track) ?? [] }
    }

    // MARK: Reading

    /// Reads until everything up to this source time is here.
    func readAhead(toNanoseconds time: Int64) throws(Failure) {
        // Tracks are interleaved with some slack: a second later nothing of before is expected.
        let (target, overflow) = time.addingReportingOverflow(1_000_000_000)
        while !isAtEnd, front < (overflow ? .max : target) { try readOne() }
    }

    /// The times of the shown pictures below `end`, sorted; reads on until all are known.
    func pictureTimes(below end: Int64) throws(Failure) -> [Int64] {
        while !isAtEnd, videoFront < end { try readOne() }
        var taken: [Int64] = []
        var kept: [Int64] = []
        for time in pictureTimes { if time < end { taken.append(time) } else { kept.append(time) } }
        pictureTimes = kept
        return taken.sorted()
    }

    /// The picture's samples shown in `range`, for a plan that cuts only where decode order and presentation order agree; to be
    /// asked for after `pictureTimes(below:)`.
    func copiedSegment(in range: Range<Int64>) -> CopiedSegment {
        var taken: [CopiedSegment.Picture] = []
        var kept: [CopiedSegment.Picture] = []
        for picture in pictures {
            guard let pts = picture.sample.pts, pts < range.upperBound else {
                kept.append(picture)
                continue
            }
            if pts >= range.lowerBound || picture.sample.isDiscarded { taken.append(picture) }
        }
        pictures = kept
        return CopiedSegment(taken, format: videoTrack.format)
    }

    /// The lane's next sample, where it is read already.
    func front(lane index: Int) throws(Failure) -> Sample? {
        let lane = lanes[index]
        while lane.head >= lane.queue.count, try encodeOn(lane) {}
        return lane.head < lane.queue.count ? lane.queue[lane.head] : nil
    }

    /// One step of encoding.
    /// - Returns: `false` where there is nothing to do.
    private func encodeOn(_ lane: Lane) throws(Failure) -> Bool {
        guard let transcoder = lane.transcoder else { return false }
        if transcoder.isFilling {
            do {
                try transcoder.fillOn { lane.queue.append($0) }
            } catch {
                throw Failure(error, role: .encode)
            }
            return true
        }
        guard lane.workHead < lane.work.count else { return false }
        let work = lane.work[lane.workHead]
        lane.workHead += 1
        if lane.workHead > 1024 || lane.workHead == lane.work.count {
            lane.work.removeFirst(lane.workHead)
            lane.workHead = 0
        }
        switch work {
        case .sample(let sample): try transcoder.encode(sample, origin: lane.offset) { lane.queue.append($0) }
        case .end: try transcoder.endDecoding { lane.queue.append($0) }
        case .flush: try transcoder.finish { lane.queue.append($0) }
        }
        return true
    }

    /// Encodes all that was read, up to a gap that is still to be filled.
    private func encode(_ work: Work, _ lane: Lane) throws(Failure) {
        lane.work.append(work)
        while lane.transcoder?.isFilling == false, try encodeOn(lane) {}
    }

    func pop(lane index: Int) throws(Failure) -> Sample? {
        let lane = lanes[index]
        guard let sample = try front(lane: index) else { return nil }
        lane.head += 1
        if lane.head > 1024 || lane.head == lane.queue.count {
            lane.queue.removeFirst(lane.head)
            lane.head = 0
        }
        return sample
    }

    private func readOne() throws(Failure) {
        let sample: Sample?
        do {
            sample = try reader.next()?.sample
        } catch {
            throw Failure(error, role: .source)
        }
        noteScar(sample)
        guard let sample else {
            if try !readsPictureAlone() { try endReading() }
            return
        }
        if sample.track == videoTrack.index { picturesRead += 1 }
        if sample.isCorrupt, sample.track == videoTrack.index ? copiesPicture : isCopied(sample.track) {
            copiedDamaged[sample.track, default: 0] += 1
        }
        if sample.track == videoTrack.index { notePicture(sample) }
        if let index = laneOfTrack[sample.track] {
            // The plan's description is the complete one.
            let lane = lanes[index]
            if lane.transcoder == nil, let change = lane.form.change(at: sample) { noteChange(change, lane.track) }
            try carry(sample.described(by: lane.track.format, track: sample.track), lane)
        }
        for lane in lanes {
            guard let text = lane.text else { continue }
            try text.pass(ticksPassed(lane)) { lane.queue.append($0) }
        }
        if isBeyondRange { try endReading() }
    }

    private func noteChange(_ change: String, _ track: Track) {
        let way = "--audio aac converts it to the first form."
        if job.container == .mpegTS {
            remarks.append("Track \(track.index): \(change), and is copied so. \(way)")
        } else {
            changedSound.append(
                "Track \(track.index): \(change); copied, \(job.container) tells the first form alone, and players may play the "
                    + "rest too fast, too slow or not at all. \(way)")
        }
    }

    /// Half a second of the usual sound.
    private static let scarLength = 24

    private func noteScar(_ sample: Sample?) {
        if demuxer.complaint != nil {
            hasNewScar = true
            for lane in lanes { lane.nearScar = Self.scarLength }
        }
        if let sample, sample.isCorrupt, let index = laneOfTrack[sample.track] {
            lanes[index].nearScar = Self.scarLength
        }
        let isPicture = sample?.track == videoTrack.index
        if hasNewScar || (isPicture && sample?.isCorrupt == true), isPicture || sample == nil {
            hasNewScar = false
            scars.note(before: lastPicture, after: sample.flatMap { $0.dts ?? $0.pts })
        }
        if isPicture { lastPicture = sample?.dts ?? sample?.pts ?? lastPicture }
    }

    /// Damaged tables of another track end the reading of all. The picture, which slots read without the others, may go on: so it does
    /// here.
    private func readsPictureAlone() throws(Failure) -> Bool {
        guard let cutOff = demuxer.cutOff, !isAlone, !lanes.isEmpty,
            !ContainerAccess(demuxer.containerName).isDiscontinuous
        else { return false }
        isAlone = true
        do throws(MediaError) {
            let other = try Self.open(job, interrupt: interrupt)
            let alone = ProgramReader(other, tracks: [videoTrack.index], survivesDamage: true)
            for _ in 0..<picturesRead { guard try alone.next() != nil else { return false } }
            remarks.append("\(cutOff.message) What lies beside the picture ends there.")
            (demuxer, reader) = (other, alone)
        } catch {
            throw Failure(error, role: .source)
        }
        return true
    }

    /// How far reading has come, less the half second by which tracks may lie apart, on the lane's output time line.
    private func ticksPassed(_ lane: Lane) -> Int64 {
        guard front > .min + Self.rangeSlack, let nanosecond = TimeBase(numerator: 1, denominator: 1_000_000_000),
            let ticks = try? nanosecond.rescale(front - 500_000_000, to: lane.track.timeBase)
        else { return .min }
        return ticks &- lane.offset
    }

    /// Every track that is dense has passed the exported range by enough for sparse ones not to come later.
    private var isBeyondRange: Bool {
        guard let end = range.end else { return false }
        let limit = end.addingReportingOverflow(Self.rangeSlack)
        guard !limit.overflow, videoFront.nanoseconds(in: videoTrack.timeBase) > limit.partialValue else {
            return false
        }
        return lanes.allSatisfy { !$0.isDense || $0.front > limit.partialValue }
    }

    /// Ten seconds, in nanoseconds.
    private static let rangeSlack: Int64 = 10_000_000_000

    private func endReading() throws(Failure) {
        isAtEnd = true
        // The plan has named what is missing of the picture.
        if let cutOff = demuxer.cutOff { remarks.append(cutOff.message) }
        for (track, count) in copiedDamaged.sorted(by: { $0.key < $1.key }) {
            remarks.append("Track \(track): \(count) damaged samples are copied as they are.")
        }
        for lane in lanes {
            if let held = lane.held { try deliver(held, before: nil, lane) }
            lane.held = nil
            if lane.transcoder != nil {
                try encode(.end, lane)
                try encode(.flush, lane)
            }
            try lane.text?.finish { lane.queue.append($0) }
        }
    }

    private func notePicture(_ sample: Sample) {
        let dts = sample.dts ?? sample.pts ?? 0
        videoFront = max(videoFront, dts)
        front = max(front, dts.nanoseconds(in: sample.timeBase))
        guard let pts = sample.pts ?? sample.dts else { return }
        let isPicture = visibility.isShown(sample)
        // What is outside the exported range would only wait in memory.
        if let end = pictureRange.end, pts >= end { return }
        guard pts >= pictureRange.start || (sample.isDiscarded && dts >= pictureRange.preRoll) else { return }
        let isHidden = copiesPicture && isPicture && sample.isDiscarded && pts >= pictureRange.start
        // Only a movie can hide it again.
        let isShown = isPicture && (!sample.isDiscarded || (isHidden && !job.container.isMovie))
        if isHidden, isShown { shownBehindEnd += 1 } else if isHidden { hiddenTimes.append(pts) }
        if isShown { lastShown = max(lastShown, pts) }
        if copiesPicture {
            let placed = sample.retimed(pts: pts, dts: dts, duration: sample.duration, timeBase: sample.timeBase)
            pictures.append(CopiedSegment.Picture(sample: placed, isShown: isShown))
        }
        if isShown { pictureTimes.append(pts) }
        if looksForCaptions, isShown, pts >= pictureRange.start, CaptionMark.isIn(sample) { captionedPictures += 1 }
    }

    private func carry(_ read: Sample, _ lane: Lane) throws(Failure) {
        let sample: Sample
        do {
            sample = try read.restoringTimedID3()
        } catch {
            throw Failure(error, role: .source)
        }
        guard let dts = sample.dts ?? sample.pts ?? position(of: sample, lane) else { return }
        let pts = sample.pts ?? dts
        if sample.pts != nil { lane.isTimed = true }
        let sourceTime = dts.nanoseconds(in: sample.timeBase)
        lane.front = max(lane.front, sourceTime)
        if lane.isDense { front = max(front, sourceTime) }
        let moved = sample.retimed(
            pts: pts, dts: dts, duration: lane.track.mediaType == .subtitle ? sample.cueDuration : sample.duration,
            timeBase: sample.timeBase)
        guard lane.isDense else { return try deliver(moved, before: nil, lane) }
        noteHole(before: moved, lane)
        if let held = lane.held { try deliver(held, before: pts, lane) }
        lane.held = moved
    }

    /// Sound that is missing where the container is damaged.
    private func noteHole(before next: Sample, _ lane: Lane) {
        guard lane.nearScar > 0 else { return }
        lane.nearScar -= 1
        guard let held = lane.held, held.duration > 0, let start = held.pts.map({ $0 &+ held.duration }),
            let end = next.pts,
            end &- start > held.duration / 2
        else { return }
        lane.holes.append(start..<end)
    }

    /// Where sound is missing because the container is damaged: silence where it is encoded again, else a gap.
    var missingSound: [JobReport.Damage] {
        lanes.flatMap { (lane) -> [JobReport.Damage] in
            let unit = lane.track.timeBase
            let known = lane.transcoder?.damage(of: lane.track) ?? []
            return lane.holes.compactMap { (hole) -> JobReport.Damage? in
                guard let start = try? MediaTime(ticks: hole.lowerBound &- lane.offset, in: unit),
                    let end = try? MediaTime(ticks: hole.upperBound &- lane.offset, in: unit),
                    !known.contains(where: { $0.start < end && start < $0.end })
                else { return nil }
                let isSilent = lane.transcoder != nil
                return JobReport.Damage(
                    track: lane.track.index, kind: isSilent ? .concealed : .dropped, start: start, end: end, frames: 0,
                    detail: "the container is damaged, and sound is missing; "
                        + (isSilent ? "silence in its place" : "the gap stays a gap"))
            }
        }
    }

    /// Data without times belongs where it lies in the stream: asynchronous KLV (MISB ST 1402 §9.4.1), private streams.
    private func position(of sample: Sample, _ lane: Lane) -> Int64? {
        guard [.data, .unknown].contains(lane.track.mediaType) else { return nil }
        guard front > .min, let nanosecond = TimeBase(numerator: 1, denominator: 1_000_000_000) else {
            return lane.offset
        }
        return try? nanosecond.rescale(front, to: sample.timeBase)
    }

    /// - Parameter following: time of the track's next packet.
    private func deliver(_ read: Sample, before following: Int64?, _ lane: Lane) throws(Failure) {
        guard let told = read.pts else { return }
        let sample = Self.lengthened(read, before: following, lane)
        let pts = Self.place(told, sample.duration, before: following, after: lane.soundEnd)
        lane.soundEnd = pts &+ sample.duration
        let dts = (sample.dts ?? told) &+ (pts &- told)
        note(sample, at: pts, lane)
        if lane.transcoder != nil {
            let placed = sample.retimed(pts: pts, dts: dts, duration: sample.duration, timeBase: sample.timeBase)
            return try encode(.sample(placed), lane)
        }
        let length = max(0, sample.duration).nanoseconds(in: sample.timeBase)
        let shown = pts.nanoseconds(in: sample.timeBase)
        if let start = range.start, shown &+ length <= start { return }
        if let end = range.end, shown >= end { return }
        var rebased: Sample
        do {
            rebased = try Self.rebased(sample, pts: pts &- lane.offset, dts: dts &- lane.offset, lane: lane)
        } catch {
            throw Failure(.timing, "A time of track \(lane.track.index) cannot be told: \(error).")
        }
        if let cues = lane.cues { rebased = cues.clipped(rebased) }
        guard let text = lane.text else { return lane.queue.append(lasting(rebased, lane)) }
        try text.convert(rebased) { lane.queue.append($0) }
    }

    /// A packet of sound that is not told how long it lasts ends where the next begins. Without that the last one of a movie would lie
    /// behind the end of its track.
    private static func lengthened(_ sample: Sample, before following: Int64?, _ lane: Lane) -> Sample {
        guard lane.track.mediaType == .audio, sample.duration == 0, sample.audioSampleCount == 0, let pts = sample.pts
        else { return sample }
        if let following, following > pts { lane.untoldLength = following &- pts }
        return sample.retimed(pts: pts, dts: sample.dts, duration: lane.untoldLength, timeBase: sample.timeBase)
    }

    /// Counts what of the sample lies in the exported range.
    private func note(_ sample: Sample, at pts: Int64, _ lane: Lane) {
        guard lane.track.mediaType != .subtitle || sample.beginsCue else { return }
        let origin = lane.offset.nanoseconds(in: lane.track.timeBase)
        let begin = pts.nanoseconds(in: sample.timeBase)
        let start = max(begin, range.start ?? begin)
        let end = min(begin &+ max(0, sample.duration).nanoseconds(in: sample.timeBase), range.end ?? .max)
        if let limit = range.end, start >= limit { return }
        if let limit = range.start, end <= limit { return }
        lane.read.add(from: start &- origin, lasting: max(0, end &- start))
    }

    /// In a movie the last sample without a length would lie behind the end of its track: what stays until the next one lasts as
    /// long as the picture.
    private func lasting(_ sample: Sample, _ lane: Lane) -> Sample {
        guard let end = movieEnd, lane.track.mediaType == .subtitle, sample.duration == 0, let pts = sample.pts,
            let nanosecond = TimeBase(numerator: 1, denominator: 1_000_000_000),
            let last = try? nanosecond.rescale(end, to: sample.timeBase), last > pts
        else { return sample }
        return sample.retimed(pts: pts, dts: sample.dts, duration: last &- pts, timeBase: sample.timeBase)
    }

    /// A packet that comes late although the one after it leaves no room for it belongs where the sound before it ended:
    /// transport streams are found that give such a packet the time of its successor.
    private static func place(
        _ told: Int64, _ duration: Int64, before following: Int64?, after end: Int64?
    ) -> Int64 {
        guard let end, let following, duration > 0 else { return told }
        let isLate = told &- end >= duration / 2
        let isCrowded = following &- told < duration / 2
        return isLate && isCrowded && end &+ duration / 2 <= following ? end : told
    }

    /// The sample at its output time: sound counts samples, everything else keeps the source's ticks.
    private static func rebased(
        _ sample: Sample, pts: Int64, dts: Int64, lane: Lane
    ) throws(MediaTimeError) -> Sample {
        guard var clock = lane.clock else {
            return sample.retimed(pts: pts, dts: dts, duration: sample.duration, timeBase: sample.timeBase)
        }
        defer { lane.clock = clock }
        let count = sample.audioSampleCount
        let time = try clock.time(of: pts, sampleCount: count)
        var duration = count > 0 ? Int64(count) : try sample.timeBase.rescale(sample.duration, to: clock.timeBase)
        // A movie tells by the length of its last sample how much of that is heard, Matroska by DiscardPadding.
        if let padding = sample.attachments.lazy.compactMap(\.samplesSkippedAtEnd).first, padding < duration {
            duration -= padding
        }
        return sample.retimed(pts: time, dts: time, duration: duration, timeBase: clock.timeBase)
    }
}

extension Int64 {
    /// For the order of interleaving only, never for a timestamp: saturates.
    func nanoseconds(in timeBase: TimeBase) -> Int64 {
        let scaled =
            Int128(self) * 1_000_000_000 * Int128(timeBase.numerator) / Int128(timeBase.denominator)
        return Int64(clamping: scaled)
    }
}

extension Double {
    /// Ticks as seconds, for estimates only.
    fileprivate func seconds(in timeBase: TimeBase) -> Double {
        self * Double(timeBase.numerator) / Double(timeBase.denominator)
    }
}

extension MediaTime {
    /// For comparing with interleaving positions only: saturates.
    var nanoseconds: Int64 {
        guard isNumeric, timescale > 0 else { return 0 }
        return Int64(clamping: Int128(value) * 1_000_000_000 / Int128(timescale))
    }
}
