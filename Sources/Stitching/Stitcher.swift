package import ClusterProtocol
package import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess

/// Muxes the finished prefix of a job while the rest is still encoded: spool + source tracks → one container.
///
/// Blocking; used from one thread of its own. The order of the samples in the file depends on their times alone, so that equal
/// segments give equal files however they arrived.
package struct Stitcher: Sendable {
    private let job: StitchJob
    private let interrupt: InterruptFlag

    package init(_ job: StitchJob, interrupt: InterruptFlag) {
        self.job = job
        self.interrupt = interrupt
    }

    /// - Parameters:
    ///   - supply: delivers the encoded segments; `nil` for a job that copies the picture.
    ///   - progress: called after each segment with the number of segments written.
    package func run(
        _ supply: (any SegmentSupply)?, progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> StitchResult {
        var attempt = Attempt(
            reorderDepth: job.reorderDepth, indexScale: 1, mixesFormats: supply?.mixing == .expected)
        var damages = 0
        while true {
            do {
                var result = try StitchPass(job, attempt, interrupt: interrupt).run(supply, progress: progress)
                result.wasRewritten = !attempt.reasons.isEmpty
                result.warnings += attempt.reasons
                return result
            } catch let failure {
                // A file that changed since it was opened: the supply finds that out when it is asked again.
                if failure.code == SpoolDamage.code, damages < 3 {
                    damages += 1
                    continue
                }
                // What is assumed where nothing tells it beforehand may be corrected, each once.
                guard let better = attempt.corrected(after: failure) else { throw failure }
                attempt = better
            }
        }
    }

    /// What one writing of the file assumes.
    struct Attempt {
        var reorderDepth: Int
        var indexScale: Int
        /// Parameter sets go in front of the first picture of each segment.
        var mixesFormats: Bool
        /// Why the file was written again, once for each bound that was corrected.
        var reasons: [String] = []

        /// - Returns: `nil` where the failure is another, or its bound was corrected already.
        func corrected(after failure: Failure) -> Attempt? {
            var better = self
            switch failure.code {
            case ReorderDepthExceeded.code where reorderDepth < Self.largestDepth:
                better.reorderDepth = Self.largestDepth
                better.reasons.append(
                    "The pictures were reordered further than the source said; the file was written again.")
            case IndexSpaceExceeded.code where indexScale == 1:
                better.indexScale = 4
                better.reasons.append("The index did not fit the space kept for it; the file was written again.")
            case FormatsDiffer.code where !mixesFormats:
                better.mixesFormats = true
                better.reasons.append(
                    "Segments that were rerun have other parameter sets than the rest; the file was written again.")
            default: return nil
            }
            return better
        }

        /// Pictures are reordered by at most 16 places (Rec. ITU-T H.264 §A.3.1, MaxDpbFrames).
        private static let largestDepth = 16
    }
}

/// Told apart so that the stitch can be written once more with more space.
package enum IndexSpaceExceeded {
    package static let code: Int32 = 0x4953  // 'IS'

    static func failure() -> Failure {
        Failure(
            .finalization, "The movie index did not fit the space kept for it at the head of the file.",
            advice: "Report this source.", fault: .environment, code: code)
    }
}

/// Told apart so that the stitch can be written once more with the parameter sets in the samples.
package enum FormatsDiffer {
    package static let code: Int32 = 0x4644  // 'FD'

    static func failure(_ index: Int) -> Failure {
        Failure(
            .format, "Segment \(index) was encoded with other parameter sets than the first one.",
            advice: "Report this.", fault: .environment, code: code)
    }
}

/// One writing of the output file.
private final class StitchPass {
    private let job: StitchJob
    private let feed: SourceFeed
    private let container: OutputContainer
    private let attempt: Stitcher.Attempt
    private let interrupt: InterruptFlag
    private var muxer: Muxer?
    /// Places by which decode order runs ahead.
    private var depth: Int
    private var times: PictureTimes?
    private var video = VideoLane()
    private var lanes: [Int] = []
    /// What is written of each lane.
    private var written: [CarriedTally.Extent] = []
    /// Lanes of which damaged samples were left out.
    private var refused: Set<Int> = []
    /// Priming of the tracks that start late, by number in the file.
    private var lateTracks: [Int: Int64] = [:]
    private var result = StitchResult()
    private var hash = ContentHash()
    /// The source's last picture of the segments written until now.
    private var lastTime: Int64?
    /// Source pictures that have the time of another.
    private var shared = 0
    private var account: DamageAccount
    private let witness: DamageWitness?

    private struct VideoLane {
        var track = 0
        var timeBase = TimeBase.milliseconds
        var format: FormatDescription?
    }

    init(_ job: StitchJob, _ attempt: Stitcher.Attempt, interrupt: InterruptFlag) throws(Failure) {
        self.job = job
        self.attempt = attempt
        self.interrupt = interrupt
        container = OutputContainer(job.container)
        feed = try SourceFeed(job, interrupt: interrupt)
        depth = attempt.reorderDepth
        account = try DamageAccount(job)
        witness = job.reference.map { DamageWitness($0, interrupt: interrupt) }
    }

    func run(_ supply: (any SegmentSupply)?, progress: (Int) -> Void) throws(Failure) -> StitchResult {
        for segment in job.segments {
            // While the segment is still encoded, the sound up to its end is made ready.
            try feed.readAhead(
                toNanoseconds: min(segment.end, segment.start &+ prefetchLimit).nanoseconds(in: job.timeBase))
            let source = try sourceTimes(of: segment)
            let spooled: any SegmentContent
            if job.copiesPicture {
                // What the edit list hides behind the end may be referred to.
                let isEnd = segment.index == job.segments.count - 1 && job.rangeEnd == nil
                spooled = feed.copiedSegment(in: segment.start..<(isEnd ? .max : segment.end))
            } else {
                guard let supply else { throw Self.noSupply }
                spooled = try supply.segment(segment.index)
            }
            result.segmentTimes.append(
                job.copiesPicture ? spooled.shownTimes.sorted() : spooled.presentationTimes.sorted())
            try compare(spooled, with: source, segment)
            if muxer == nil {
                // Some encoders announce no depth: the first segment shows it, as every segment is encoded alike.
                depth = max(attempt.reorderDepth, DecodeTimeline.depth(of: spooled.presentationTimes))
                try start(with: spooled)
            }
            try write(spooled, segment, mixing: supply?.mixing ?? .refused)
            progress(segment.index + 1)
        }
        try writeCarried(before: .max)
        try finish()
        return result
    }

    private static let noSupply = Failure(
        .storage, "Nothing delivers the encoded segments.", advice: "Report this.", fault: .environment)

    /// A minute of the source: what may wait in memory for a segment.
    private var prefetchLimit: Int64 {
        (try? MediaTime(value: 60, timescale: 1).ticks(in: job.timeBase)) ?? 0
    }

    // MARK: Proof of the segment against the source

    /// The times of the source's own pictures in the segment.
    private func sourceTimes(of segment: Segment) throws(Failure) -> [Int64] {
        let isLast = segment.index == job.segments.count - 1
        return try feed.pictureTimes(below: isLast && job.rangeEnd == nil ? .max : segment.end)
            .filter { $0 >= segment.start }
    }

    private func compare(_ spooled: any SegmentContent, with all: [Int64], _ segment: Segment) throws(Failure) {
        let returned = spooled.shownTimes.sorted()
        var dropped = job.copiesPicture ? [:] : try droppedPictures(spooled, returned, all, segment)
        let source =
            dropped.isEmpty
            ? all
            : all.filter { time in
                guard let count = dropped[time], count > 0 else { return true }
                dropped[time] = count - 1
                return false
            }
        try noteHoles(in: all, segment)
        result.dropped += all.count - source.count
        result.sourceFrames += source.count
        // A slot moves a picture that shares its time; copied ones are moved on their way into the file.
        var (sourceRule, returnedRule) = (RisingTimes(), RisingTimes())
        var left = sourceRule.place(source).makeIterator()
        var right = returnedRule.place(returned).makeIterator()
        shared += sourceRule.moved
        var (a, b) = (left.next(), right.next())
        while a != nil || b != nil {
            if let x = a, let y = b, x == y {
                (a, b) = (left.next(), right.next())
            } else if let x = a, b.map({ x < $0 }) ?? true {
                result.missing += 1
                note(x)
                a = left.next()
            } else if let y = b {
                result.surplus += 1
                note(y)
                b = right.next()
            }
        }
    }

    /// Pictures that are in no sample, because the container is damaged.
    private func noteHoles(in times: [Int64], _ segment: Segment) throws(Failure) {
        defer { lastTime = times.last ?? lastTime }
        for hole in feed.scars.holes(in: times, after: lastTime) {
            try account.add(
                .dropped, from: hole.start, to: hole.end, frames: hole.count,
                detail: "the container is damaged, and there is no sample; the number of pictures is an estimate")
        }
        guard segment.index == job.segments.count - 1, job.rangeEnd == nil, feed.scars.isOpen, let last = times.last,
            let usual = SourceScars.usualStep(times), let end = feed.promisedEnd, end > last &+ usual &* 2
        else { return }
        try account.add(
            .dropped, from: last &+ usual, to: end, frames: Int((end &- last) / usual) - 1,
            detail:
                "the container is damaged, and nothing behind that can be read; the number of pictures is an estimate")
    }

    /// Pictures of the segment that damage took away: missing here, and missing where the source is decoded once more. How many of each
    /// time.
    private func droppedPictures(
        _ spooled: any SegmentContent, _ returned: [Int64], _ source: [Int64], _ segment: Segment
    ) throws(Failure) -> [Int64: Int] {
        let shown = Set(returned)
        var claim = spooled.damage
        var dropped: [Int64: Int] = [:]
        if returned.count < source.count || source.contains(where: { !shown.contains($0) }), let witness {
            let seen = try witness.examine(segment)
            var left: [Int64: Int] = [:]
            for time in source { left[time, default: 0] += 1 }
            for time in shown { left[time, default: 0] -= 1 }
            if !claim.dropped.isEmpty,
                seen.dropped.isEmpty || claim.dropped.contains(where: { (left[$0.time] ?? 1) <= 0 })
            {
                result.warnings.append(
                    "Segment \(segment.index): the worker's account of damaged pictures is not what the source shows here."
                )
            }
            let losses = seen.dropped.filter { loss in
                guard let count = left[loss.time], count > 0 else { return false }
                left[loss.time] = count - 1
                return true
            }
            if claim.concealed.isEmpty { claim.concealed = seen.concealed }
            for loss in losses { dropped[loss.time, default: 0] += 1 }
            try account.add(
                .dropped, dropped, among: source, of: segment,
                detail: "no picture comes out of the damaged samples, or of those that need them")
        }
        let concealed = Set(claim.concealed).intersection(shown)
        try account.add(
            .concealed, Dictionary(uniqueKeysWithValues: concealed.map { ($0, 1) }), among: source, of: segment,
            detail: "the decoder made parts of them up; pictures up to the next keyframe may show it, too")
        return dropped
    }

    private func note(_ time: Int64) {
        if result.examples.count < 8 { result.examples.append(time) }
    }

    // MARK: Header

    private func start(with first: any SegmentContent) throws(Failure) {
        do {
            let shift = try shift(first)
            result.shift = shift
            let units = [container.videoTimeBase(job.timeBase)] + (0..<feed.laneCount).map { unit(ofLane: $0) }
            result.editRounding = container.editRounding(units)
            var options = container.options(
                job: job, indexScale: attempt.indexScale, timeBases: units,
                carriedSamples: feed.expectedSamples(seconds: job.durationSeconds),
                enclosedBytes: Enclosures.size(job, feed))
            options["avoid_negative_ts"] = "disabled"
            let muxer = try Muxer(path: job.temporary, container: job.container, options: options)
            let source = feed.picture
            video.format = first.format
            video.track = try muxer.addTrack(
                format: first.format, timeBase: container.videoTimeBase(job.timeBase),
                metadata: job.tags(of: source),
                disposition: source.disposition,
                attachments: job.pictureAttachments ?? source.attachments,
                averageFrameRate: job.timecodeRate ?? source.averageFrameRate,
                // What is encoded says its own; of what is copied the container may be the only one to know.
                sampleAspectRatio: job.copiesPicture ? source.sampleAspectRatio : nil,
                codecTag: attempt.mixesFormats && job.container.isMovie ? first.format.inBandSampleEntry : nil)
            for lane in 0..<feed.laneCount {
                let track = feed.track(ofLane: lane)
                let format = feed.format(ofLane: lane)
                // Within QuickTime libavformat's own tag would be that of QuickTime's older text, which has no styles.
                let tag = format.codecName == "mov_text" && job.container.isMovie ? "tx3g" : nil
                lanes.append(
                    try muxer.addTrack(
                        format: format, timeBase: unit(ofLane: lane), metadata: job.tags(of: track),
                        disposition: track.disposition, attachments: track.attachments,
                        averageFrameRate: track.mediaType == .video ? track.averageFrameRate : nil, codecTag: tag))
            }
            written = Array(repeating: CarriedTally.Extent(), count: lanes.count)
            let enclosures = try Enclosures(job, feed: feed, muxer: muxer)
            try muxer.set(metadata: job.metadata)
            try muxer.set(chapters: job.chapters)
            try muxer.writeHeader()
            try enclosures.writePictures(muxer)
            video.timeBase = try muxer.timeBase(ofTrack: video.track)
            times = try PictureTimes(
                source: job.timeBase, unit: video.timeBase, origin: job.origin, shift: shift, depth: depth)
            result.videoTimeBase = video.timeBase
            self.muxer = muxer
        } catch let error as MediaError {
            throw Failure(error, role: .output)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.timing, "The time line does not fit \(job.container): \(error).")
        }
    }

    /// libavformat compares the end of a movie's cue with the times of other tracks as if all had one unit, and ends the cue with an
    /// empty sample too early where the others' is finer (movenc.c, mov_write_packet). A cue's unit is the finest, and a whole
    /// fraction of the source's.
    private func unit(ofLane lane: Int) -> TimeBase {
        let unit = feed.timeBase(ofLane: lane)
        guard job.container.isMovie, feed.format(ofLane: lane).codecName == "mov_text", unit.numerator == 1 else {
            return unit
        }
        let others = (0..<feed.laneCount).map { Int64(feed.timeBase(ofLane: $0).denominator) }
        let finest = max(Int64(container.videoTimeBase(job.timeBase).denominator), others.max() ?? 1)
        let own = Int64(unit.denominator)
        let times = (finest + own - 1) / own
        guard let denominator = Int32(exactly: own * max(1, times)), denominator <= 1_000_000 else { return unit }
        return TimeBase(numerator: 1, denominator: denominator) ?? unit
    }

    /// How far everything moves because the container holds no time below zero: the earliest decode time, made positive.
    private func shift(_ first: any SegmentContent) throws -> MediaTime {
        guard !container.holdsNegativeTimes else { return .zero }
        var earliest = MediaTime.zero
        if container.storesDecodeTimes,
            let time = try PictureTimes.firstDecodeTime(
                of: first.presentationTimes, in: job.timeBase, origin: job.origin, depth: depth)
        {
            earliest = min(earliest, time)
        }
        let horizon = job.origin.nanoseconds &+ 2_000_000_000
        for lane in 0..<feed.laneCount {
            guard let sample = try feed.peek(lane: lane, readingUpTo: horizon),
                let time = container.storesDecodeTimes ? sample.dts ?? sample.pts : sample.pts
            else { continue }
            var start = try MediaTime(ticks: time, in: sample.timeBase)
            let format = sample.format
            if Muxer.marksPriming(of: format, in: job.container), let rate = Int32(exactly: format.sampleRate) {
                start = try start.adding(MediaTime(value: Int64(format.initialPadding), timescale: rate))
            }
            earliest = min(earliest, start)
        }
        guard earliest < .zero else { return .zero }
        // Whole ticks of the container, rounded away from zero.
        let ticks = try earliest.negated().ticks(in: container.videoTimeBase(job.timeBase), rounding: .up)
        return try MediaTime(ticks: ticks, in: container.videoTimeBase(job.timeBase))
    }

    // MARK: Samples

    private func write(
        _ spooled: any SegmentContent, _ segment: Segment, mixing: FormatMixing
    ) throws(Failure) {
        guard muxer != nil, let format = video.format else { return }
        try check(spooled.format, of: segment, follows: format, mixing)
        do {
            guard let placed = try times?.place(spooled.presentationTimes, until: segment.end) else { return }
            noteMoves()
            for index in 0..<spooled.count {
                if interrupt.isInterrupted { throw Failure.interrupted }
                let time = placed.decode[index].nanoseconds(in: video.timeBase)
                try writeCarried(before: container.interleavePoint(time), sparseBefore: time)
                let sample = try spooled.sample(
                    index, pts: placed.presentation[index], dts: placed.decode[index],
                    duration: placed.durations[index], timeBase: video.timeBase)
                // At each segment, so that going back to the first ones' sets works, too.
                let carried = attempt.mixesFormats && index == 0 ? try sample.carryingParameterSets() : sample
                guard try write(carried, to: video.track, of: feed.picture, isCopy: job.copiesPicture) else {
                    takeOut(spooled.presentationTimes[index])
                    continue
                }
                carried.withUnsafeBytes { hash.update($0) }
            }
            result.frames += result.segmentTimes.last?.count ?? 0
        } catch let error as MediaError {
            throw Failure(error, role: .output)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.timing, "A time of segment \(segment.index) does not fit \(job.container): \(error).")
        }
    }

    private func check(
        _ format: FormatDescription, of segment: Segment, follows first: FormatDescription, _ mixing: FormatMixing
    ) throws(Failure) {
        switch first.joining(format) {
        case .equal: return
        case .inBand where attempt.mixesFormats: return
        case .inBand where mixing != .refused: throw FormatsDiffer.failure(segment.index)
        case .impossible(let difference) where mixing != .refused:
            throw Failure(
                .format,
                "Segment \(segment.index) was rerun and differs from the others in \(difference); one track cannot hold both.",
                advice: "`weft retry` it with settings that keep that, or without any.", fault: .settings)
        case .inBand, .impossible:
            throw Failure(
                .format, "Segment \(segment.index) was encoded with other parameter sets than the first one.",
                advice: "All workers need the same encoder build; `weft capabilities` shows what a machine has.",
                retry: .elsewhere, fault: .worker)
        }
    }

    /// Frames that fall on one tick of a coarser container are moved to neighbouring ticks; that is named.
    private func noteMoves() {
        guard let times, let move = Optional(times.largestMove), move > .zero else { return }
        result.moves = times.moves
        let loss =
            "Some frames are closer together than \(job.container) can tell apart (1/\(video.timeBase.denominator) s); "
            + "they were moved by that much. MP4 or MOV keep them."
        if !result.losses.contains(loss) { result.losses.append(loss) }
    }

    /// - Parameter sparseLimit: of subtitles and data. libavformat ends a movie's cue as soon as another track has passed its end, and
    ///   the one that follows it must be there by then.
    private func writeCarried(before limit: Int64, sparseBefore sparseLimit: Int64 = .max) throws(Failure) {
        guard muxer != nil else { return }
        if limit != .max {
            let source = max(limit, sparseLimit) &+ job.origin.nanoseconds &- result.shift.nanoseconds
            try feed.readAhead(toNanoseconds: source)
        } else {
            try feed.readAhead(toNanoseconds: .max)
        }
        // The lane that is furthest behind goes first.
        while true {
            var best: (lane: Int, time: Int64)?
            for lane in lanes.indices {
                guard let sample = try feed.front(lane: lane) else { continue }
                let time = (sample.dts ?? sample.pts ?? 0).nanoseconds(in: sample.timeBase) &+ result.shift.nanoseconds
                if time < (feed.isSparse(lane: lane) ? sparseLimit : limit), time < best?.time ?? .max {
                    best = (lane, time)
                }
            }
            guard let best, let sample = try feed.pop(lane: best.lane) else { return }
            if written[best.lane].count == 0 { noteStart(of: sample, track: lanes[best.lane]) }
            do {
                let isWritten = try write(
                    try shifted(sample), to: lanes[best.lane], of: feed.track(ofLane: best.lane),
                    isCopy: feed.isCopy(lane: best.lane))
                if isWritten { tally(sample, lane: best.lane) } else { refused.insert(best.lane) }
            } catch let error as MediaError {
                throw Failure(error, role: .output)
            } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(.timing, "A time of track \(best.lane) does not fit \(job.container): \(error).")
            }
        }
    }

    /// A copied sample that is damaged so that the container cannot hold it is left out and named; the rest goes on.
    /// - Returns: `false` where it was left out.
    private func write(_ sample: Sample, to track: Int, of source: Track, isCopy: Bool) throws -> Bool {
        do {
            try muxer?.write(sample, track: track)
            return true
        } catch {
            guard isCopy, error.reason == .invalidData, let pts = sample.pts ?? sample.dts else { throw error }
            let start = try MediaTime(ticks: pts, in: sample.timeBase).subtracting(result.shift)
            let length = try MediaTime(ticks: max(1, sample.duration), in: sample.timeBase)
            try account.add(
                JobReport.Damage(
                    track: source.index, kind: .dropped, start: start, end: try start.adding(length), frames: 1,
                    detail: "damaged so that \(job.container) cannot hold it; left out"))
            return false
        }
    }

    /// A picture that is copied cannot be in the output.
    private func takeOut(_ time: Int64) {
        guard let last = result.segmentTimes.indices.last,
            let index = result.segmentTimes[last].firstIndex(of: time)
        else { return }
        result.segmentTimes[last].remove(at: index)
        result.sourceFrames -= 1
        result.dropped += 1
    }

    private func tally(_ sample: Sample, lane: Int) {
        // An encoder's last word (FLAC's, of the sums in its header) is a sample without bytes.
        guard let pts = sample.pts, sample.size > 0,
            feed.track(ofLane: lane).mediaType != .subtitle || sample.beginsCue
        else { return }
        written[lane].add(
            from: pts.nanoseconds(in: sample.timeBase),
            lasting: max(0, sample.duration).nanoseconds(in: sample.timeBase))
    }

    /// A movie's track that starts late and with priming needs an edit list that libavformat does not write.
    private func noteStart(of sample: Sample, track: Int) {
        guard job.container.isMovie, let pts = sample.pts, pts > 0,
            Muxer.marksPriming(of: sample.format, in: job.container)
        else { return }
        lateTracks[track] = Int64(sample.format.initialPadding)
    }

    /// An edit list may end before pictures that those before it refer to: they are copied, and hidden again.
    private func hideEnd() throws(MediaError) {
        guard job.container.isMovie, let hidden = feed.hiddenEnd else { return }
        do {
            let end = try MediaTime(ticks: hidden, in: job.timeBase).subtracting(job.origin).adding(result.shift)
            try MovieEdits.end(track: video.track, at: end, inFileAt: job.temporary)
        } catch let error as MediaError {
            throw error
        } catch {
            throw MediaError(.timing, .invalidData, "The end of the picture cannot be told: \(error)")
        }
    }

    /// libavformat shows a movie's first subtitles where the source shows none by default.
    private func switchOffSubtitles() throws(MediaError) {
        let subtitles = lanes.indices.filter { feed.track(ofLane: $0).mediaType == .subtitle }
        guard job.container.isMovie, let first = subtitles.first,
            !subtitles.contains(where: { feed.track(ofLane: $0).disposition.contains(.default) })
        else { return }
        try MovieEdits.disable(track: lanes[first], inFileAt: job.temporary)
    }

    private func shifted(_ sample: Sample) throws(MediaError) -> Sample {
        guard result.shift != .zero else { return sample }
        guard let ticks = try? result.shift.ticks(in: sample.timeBase) else {
            throw MediaError(.timing, .invalidData, "A time of a carried track is out of range.")
        }
        return sample.retimed(
            pts: sample.pts.map { $0 &+ ticks }, dts: sample.dts.map { $0 &+ ticks }, duration: sample.duration,
            timeBase: sample.timeBase)
    }

    private func finish() throws(Failure) {
        guard let muxer else {
            throw Failure(.asset, "There is no picture in the exported range.", exitCode: .badSource)
        }
        do {
            result.bytes = try muxer.finish()
            for (track, priming) in lateTracks.sorted(by: { $0.key < $1.key }) {
                try MovieEdits.cutPriming(ofTrack: track, priming, inFileAt: job.temporary)
            }
            try hideEnd()
            try switchOffSubtitles()
        } catch {
            if error.isIndexSpaceTooSmall { throw IndexSpaceExceeded.failure() }
            throw Failure(error, role: .output)
        }
        result.videoHash = hash.finish()
        result.moved = shared
        if shared > 0 {
            result.warnings.append(
                "\(shared) source pictures do not come after the one before them in time; each was moved to one tick "
                    + "behind it.")
        }
        if result.dropped > 0 {
            result.losses.append(
                "\(result.dropped) source pictures cannot be decoded and are not in the output; `damage` says where.")
        }
        if feed.shownBehindEnd > 0 {
            let count = feed.shownBehindEnd
            result.losses.append(
                "\(count) \(count == 1 ? "picture" : "pictures") that the source's edit list hides \(count == 1 ? "is" : "are") shown: "
                    + "\(job.container) cannot hide what other pictures refer to. MP4 or MOV can.")
        }
        result.losses += feed.textLosses + feed.soundLosses + feed.timeLosses(in: job.container)
        if let loss = job.captionLoss, feed.captionedPictures > 0 {
            let count = feed.captionedPictures
            let loss = "\(loss) \(count) \(count == 1 ? "picture has" : "pictures have") some."
            result.losses.append(loss)
        }
        result.carried = lanes.indices.map { lane in
            var tally = feed.tally(ofLane: lane)
            tally.written = written[lane]
            if refused.contains(lane) { tally.hasKnownGaps = true }
            if tally.read.count == 0, [.audio, .video].contains(tally.mediaType) {
                result.warnings.append(
                    "Track \(tally.track) (\(tally.mediaType.rawValue)) holds nothing in the source.")
            }
            return tally
        }
        if feed.scars.isAtStart {
            result.warnings.append(
                "The container is damaged before its first picture; what may have been there is not in the output.")
        }
        result.warnings += feed.textWarnings + feed.soundWarnings
        for range in feed.damagedSound + feed.missingSound { try account.add(range) }
        try account.check(pictures: result.sourceFrames + result.dropped)
        result.damage = account.ranges.sorted { ($0.track, $0.start) < ($1.track, $1.start) }
        result.warnings += feed.remarks
    }
}
