internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Stitching
internal import Verification

/// Everything about an export that is decided before the first lease; a function of the source and the settings alone.
struct PlannedExport: Sendable {
    /// The same source, settings and target give the same id, which is how `--resume` finds its job.
    var id: String
    var source: SourceReference
    var recipe: EncodeRecipe
    var segments: [Segment]
    var stitch: StitchJob
    var frameSize: (width: Int, height: Int)
    var duration: MediaTime
    var expectedFrames: Int
    /// Nothing counted them beforehand.
    var isEstimate = false
    var warnings: [String]
    var losses: [String]
    /// What reaches the output, and how.
    var carried: [CarriedItem] = []
    /// The filter keeps every frame and its time, so source and output can be compared one by one.
    var keepsFrames: Bool
    /// Every loss is an error.
    var isStrict = false

    /// What the proof looks for beside the tracks.
    var marks: PromisedMarks {
        PromisedMarks(
            container: stitch.container, chapters: stitch.chapters.count, timecode: stitch.timecode,
            tags: stitch.metadata)
    }

    /// - Throws: exit code 1 where there are losses and none may be.
    func refuse(losses: [String]) throws(Failure) {
        guard isStrict, let first = losses.first else { return }
        let others = losses.count > 1 ? " And \(losses.count - 1) more." : ""
        throw Failure(
            .format, "--strict refuses a loss: \(first)\(others)",
            advice:
                "Choose a target that holds it, or leave out --strict; without it, `losses` in the report lists all.",
            fault: .settings)
    }
}

/// Opens the source, chooses what is carried how, and plans the segments.
struct ExportPlanner {
    private let order: ExportOrder
    private let interrupt: InterruptFlag
    private let fingerprint: SourceReference.Fingerprint
    private let demuxer: Demuxer
    private let video: Track
    private let cropping: PictureCropping?

    /// Opens the source: what is wrong with it is said before anything else.
    init(_ order: ExportOrder, interrupt: InterruptFlag) throws(Failure) {
        self.order = order
        self.interrupt = interrupt
        fingerprint = try SourceReference.Fingerprint.of(order.source, interrupt: interrupt)
        do {
            demuxer = try Demuxer(location: order.source, interrupt: interrupt)
        } catch {
            throw Failure(error, role: .source)
        }
        video = try PictureTrack.find(in: demuxer.tracks, of: order.source)
        do {
            cropping = try demuxer.cropping(ofTrack: video.index)
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// - Parameter known: the source's index, where somebody has made it already for the same segment length.
    func plan(known: SourceIndex? = nil) throws(Failure) -> PlannedExport {
        let container = try self.container()
        var settings = order.settings
        var selection = TrackSelection(order: order, demuxer: demuxer, video: video, container: container)
        try selection.choose()

        try refuseEarly(video, container: container, audioBitrate: selection.expectedBitrate)

        var index = if let known { known } else { try indexer(settings).makeIndex(demuxer) }
        try checkSpan(index)
        let counting = countingFilters(settings)
        if !counting.isEmpty { settings.segmentDuration = .positiveInfinity }
        var range = try self.range(settings, index: index, track: video)
        let target = settings.segmentDuration ?? SegmentPlan.defaultTarget
        var plan = try self.plan(index, settings: settings, range: range, target: target)
        if settings.videoCodec == .copy, let first = plan.segments.first {
            try checkPreRoll(first, in: container)
            try checkTimes(index)
        }
        guard let first = plan.segments.first, let last = plan.segments.last else {
            throw Failure(.asset, "\(order.source) has no picture in that range.", exitCode: .badSource)
        }
        settings.segmentDuration = nil

        let seconds =
            (Double(last.end) - Double(first.start)) * Double(video.timeBase.numerator)
            / Double(video.timeBase.denominator)
        let pictures =
            settings.videoCodec == .copy
            ? nil : try FirstPictures(sourceReference, segment: first, interrupt: interrupt)
        let resolved = try RecipeResolver(
            settings: settings, track: video, cropping: cropping, container: container, seconds: seconds,
            audioBitrate: selection.expectedBitrate, pictures: pictures
        ).resolve()
        try check(resolved.codecName, fits: container)
        if settings.videoCodec != .copy,
            let groups = LongGroups(settings.longGroups, cost: cost(of: resolved.recipe, index)),
            groups.wouldCut(plan, target: target)
        {
            if index.lacksInnerCuts {
                index = try indexer(settings).makeIndex(everySample: true)
                try checkSpan(index)
                range = try self.range(settings, index: index, track: video)
                plan = try self.plan(index, settings: settings, range: range, target: target)
            }
            plan = groups.split(plan, index.keyframes, target: target)
        }
        var planned = try assemble(
            container: container, selection: selection, index: index, plan: plan, resolved: resolved,
            isRanged: range.start != nil || range.end != nil)
        if !counting.isEmpty {
            planned.warnings.append(
                "The filter \(counting.joined(separator: ", ")) counts frames and would begin anew in every segment: the "
                    + "picture is encoded as one segment, by one slot.")
        }
        try carryTags(&planned, selection, first: pictures?.frames.first, start: index.keyframes.start)
        let captions = CaptionCarriage(pictures, encoder: resolved.recipe.encoder)
        planned.losses += captions.losses
        planned.stitch.captionLoss = captions.laterLoss
        // Where a loss is an error, it is one before hours of encoding: every picture is read for it, none decoded.
        if order.settings.isStrict, let loss = captions.laterLoss,
            try CaptionMark.isFound(in: sourceReference, from: first.start, to: last.end, interrupt: interrupt)
        {
            planned.losses.append(loss)
        }
        planned.losses += try secondCroppings(selection.carried, container)
        planned.carried =
            CarriageList(
                planned, codec: resolved.codecName, pictures: pictures, mapsTone: settings.toneMapping != nil,
                hasCaptions: captions.areCarried
            ).items
        try planned.refuse(losses: planned.losses.filter { !resolved.allowedLosses.contains($0) })
        return planned
    }

    /// Picture tracks beside the film are copied.
    private func secondCroppings(_ carried: [CarriedTrack], _ container: Container) throws(Failure) -> [String] {
        var losses: [String] = []
        for item in carried where !item.isEnclosure {
            let track = demuxer.tracks[item.track]
            guard track.mediaType == .video else { continue }
            do {
                losses += PictureCarriage.croppingLoss(try demuxer.cropping(ofTrack: track.index), of: track, container)
            } catch {
                throw Failure(error, role: .source)
            }
        }
        return losses
    }

    private func indexer(_ settings: ExportSettings) -> SourceIndexer {
        SourceIndexer(
            location: order.source, track: video, target: settings.segmentDuration,
            cuts: settings.videoCodec == .copy ? [settings.start, settings.end].compactMap(\.self) : [],
            interrupt: interrupt)
    }

    /// Tags and the time code, in the form that the container has for them.
    private func carryTags(
        _ planned: inout PlannedExport, _ selection: TrackSelection, first: Frame?, start: Int64
    ) throws(Failure) {
        let container = planned.stitch.container
        let indexes = [video.index] + selection.carried.map(\.track)
        var languages: [Int: String] = [:]
        do {
            for index in indexes { languages[index] = try demuxer.languageTag(ofTrack: index) }
        } catch {
            throw Failure(error, role: .source)
        }
        let tags = TagCarriage(
            file: demuxer.metadata, carried: indexes.map { demuxer.tracks[$0] }, languageTags: languages,
            container: container,
            hasCover: selection.carried.contains { demuxer.tracks[$0.track].disposition.contains(.attachedPicture) })
        planned.stitch.metadata = tags.file
        planned.stitch.trackTags = tags.tracks
        planned.stitch.usesMetadataKeys = tags.usesMetadataKeys
        let timecode = TimecodeCarriage(
            tracks: demuxer.tracks, video: video, file: demuxer.metadata, picture: first,
            offset: (planned.segments.first?.start ?? start) &- start, container: container)
        timecode.apply(to: &planned.stitch)
        planned.warnings += selection.conversions
        planned.losses += tags.losses + timecode.losses
        if container == .mpegTS, !planned.stitch.chapters.isEmpty {
            planned.losses.append("\(planned.stitch.chapters.count) chapters are not carried: \(container) holds none.")
        }
    }

    // MARK: Settings

    /// What can be said against the settings without the index, which may take a scan of the whole source.
    private func refuseEarly(_ video: Track, container: Container, audioBitrate: Int64) throws(Failure) {
        // Where only a decoded picture tells the format, it is decoded later.
        guard order.settings.videoCodec == .copy || video.frameFormat != nil else { return }
        var settings = order.settings
        // A size asks for the exact duration, which the index tells.
        if case .size = settings.rate { settings.rate = nil }
        let resolver = RecipeResolver(
            settings: settings, track: video, cropping: cropping, container: container, seconds: 0,
            audioBitrate: audioBitrate)
        try check(try resolver.resolve().codecName, fits: container)
    }

    private func check(_ codec: String, fits container: Container) throws(Failure) {
        guard !container.canHold(codec: codec) else { return }
        throw Failure(
            .format, "\(container) cannot hold \(codec).",
            advice: "Choose another --video-codec, or a target name such as .mkv or .mov.", fault: .settings,
            exitCode: .usage)
    }

    // MARK: Source

    private var sourceReference: SourceReference {
        SourceReference(location: order.source, fingerprint: fingerprint, videoTrack: video.index)
    }

    private func container() throws(Failure) -> Container {
        guard let container = Container(path: order.destination) else {
            throw Failure(
                .format, "The name \(order.destination) does not say which container to write.",
                advice: "End it in .mp4, .mov, .mkv, .webm or .ts.", fault: .settings, exitCode: .usage)
        }
        guard [.mp4, .mov, .matroska, .webm, .mpegTS].contains(container) else {
            throw Failure(
                .format, "Weft does not write \(container).", advice: "Use .mp4, .mov, .mkv, .webm or .ts.",
                fault: .settings, exitCode: .usage)
        }
        return container
    }

    // MARK: Plan

    private struct Range {
        var start: Int64?
        var end: Int64?
    }

    /// `--start` and `--end` are times of the presentation, which begins where the picture does.
    private func range(_ settings: ExportSettings, index: SourceIndex, track: Track) throws(Failure) -> Range {
        do {
            func ticks(_ time: MediaTime?) throws -> Int64? {
                try time.map { try index.keyframes.start &+ $0.ticks(in: track.timeBase) }
            }
            var range = Range(start: try ticks(settings.start), end: try ticks(settings.end))
            if settings.videoCodec == .copy {
                let cuts = CopyRange(
                    index.keyframes, frameRate: (track.averageFrameRate ?? track.realFrameRate)?.approximation)
                range.start = try range.start.map { start throws(Failure) in try cuts.cut(start, option: "--start") }
                range.end = try range.end.map { end throws(Failure) in try cuts.cut(end, option: "--end") }
            }
            return range
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.timing, "The range to export cannot be told: \(error)", fault: .settings, exitCode: .usage)
        }
    }

    private func countingFilters(_ settings: ExportSettings) -> [String] {
        guard settings.videoCodec != .copy else { return [] }
        let chain = [settings.deinterlace, settings.filter].compactMap(\.self).joined(separator: ",")
        return FilterTraits(chain).counting
    }

    /// Sums and differences of times stay within 64 bits in all that follows.
    private func checkSpan(_ index: SourceIndex) throws(Failure) {
        let limit: Int64 = 1 << 61
        let bounds = -limit...limit
        guard bounds.contains(index.keyframes.start), bounds.contains(index.keyframes.end) else {
            throw Failure(
                .timing,
                "The picture of \(order.source) claims times from tick \(index.keyframes.start) to \(index.keyframes.end), "
                    + "which is no film.",
                advice: "Its header or time stamps are damaged; remux it first.", fault: .source, exitCode: .badSource)
        }
    }

    /// A picture whose edit list begins inside a group needs samples that are not shown.
    private func checkPreRoll(_ first: Segment, in container: Container) throws(Failure) {
        guard first.keyframe.pts < first.start, !container.isMovie else { return }
        throw Failure(
            .format,
            "The edit list of \(order.source) begins inside a group of pictures; \(container) cannot hold the pictures before "
                + "that without showing them.",
            advice: "Copy to .mp4 or .mov, or leave out --video-codec copy.", fault: .settings, exitCode: .usage)
    }

    /// Which picture of a reordered stream is shown when, only decoding tells where the container does not.
    private func checkTimes(_ index: SourceIndex) throws(Failure) {
        // The last picture of a stream may lack what the next would have told.
        guard index.keyframes.origin == .scan, index.untimed > 2, video.format.reorderDepth > 0 else { return }
        throw Failure(
            .timing,
            "\(order.source) does not store when its pictures are shown, and they are not in that order: copied, they would be "
                + "shown in the wrong one.",
            advice: "Leave out --video-codec copy.", fault: .settings, exitCode: .usage)
    }

    private func plan(
        _ index: SourceIndex, settings: ExportSettings, range: Range, target: MediaTime
    ) throws(Failure) -> SegmentPlan {
        var keyframes = index.keyframes
        if settings.videoCodec == .copy {
            // A cut for copying must fall where decode order and presentation order part the same samples.
            keyframes.keyframes = keyframes.keyframes.enumerated().filter { number, keyframe in
                number == 0 || (keyframe.leading == 0 && keyframe.kind.isUsable)
            }.map(\.element)
        }
        do {
            return try SegmentPlan.make(
                index: keyframes, target: target, start: range.start, end: range.end)
        } catch {
            throw Failure(
                .timing, "\(order.source) cannot be planned: \(error).",
                advice: "Check --start, --end and --segment-duration.",
                fault: error == .emptyTrack ? .source : .settings, exitCode: error == .emptyTrack ? .badSource : .usage)
        }
    }

    private func cost(of recipe: EncodeRecipe, _ index: SourceIndex) -> CodingCost {
        CodingCost(
            source: video,
            result: .init(coder: recipe.encoder, width: recipe.width, height: recipe.height, options: recipe.options),
            index)
    }

    // MARK: Result

    private func assemble(
        container: Container, selection: TrackSelection, index: SourceIndex, plan: SegmentPlan,
        resolved: ResolvedPicture, isRanged: Bool
    ) throws(Failure) -> PlannedExport {
        let (recipe, depth) = (resolved.recipe, resolved.reorderDepth)
        guard let first = plan.segments.first, let last = plan.segments.last else {
            throw Failure(.asset, "\(order.source) has no picture in that range.", exitCode: .badSource)
        }
        do {
            let pictureStart = try MediaTime(ticks: first.start, in: video.timeBase)
            let origin = isRanged ? pictureStart : min(pictureStart, selection.earliestStart ?? pictureStart)
            let end = try MediaTime(ticks: last.end, in: video.timeBase)
            let duration = try end.subtracting(pictureStart)
            let expected = index.keyframes.sampleCount ?? Self.estimatedFrames(video, duration: duration)
            let source = sourceReference
            let segments = FilterEntry(index.keyframes, margin: recipe.filterMargin, track: video).move(plan.segments)
            var stitch = StitchJob(
                temporary: "", container: container, source: order.source, videoTrack: video.index,
                tracks: demuxer.tracks, segments: segments, timeBase: video.timeBase, carried: selection.carried,
                chapters: try Self.chapters(demuxer.chapters, origin: origin, isRanged: isRanged, end: end),
                metadata: demuxer.metadata, origin: origin, isRanged: isRanged,
                rangeEnd: order.settings.end == nil ? nil : end, copiesPicture: recipe.encoder == "copy",
                reorderDepth: recipe.encoder == "copy" ? max(depth, index.reorderDepth ?? 0) : depth,
                expectedFrames: resolved.keepsFrames ? expected : expected * 2 + 64)
            stitch.pictureAttachments = resolved.attachments
            stitch.reference = source
            stitch.maxDamage = order.settings.maxDamage
            stitch.refusesDamage = order.settings.isStrict
            let isWhole = last.end >= index.keyframes.end
            stitch.knownDamage =
                try index.missingEnd.flatMap { isWhole ? $0 : nil }
                .map { [try missingEnd($0, from: end, origin: origin)] } ?? []
            var warnings = selection.warnings + index.remarks(on: plan) + resolved.warnings
            if index.missingEnd == nil { warnings += promisedEnd(index) }
            if index.undecodable > 0 {
                warnings.append(
                    "\(index.undecodable) samples at the start of the source precede its first whole picture and show nothing."
                )
            }
            var planned = PlannedExport(
                id: try jobID(source: source, recipe: recipe, segments: segments, carried: selection.carried),
                source: source, recipe: recipe, segments: segments, stitch: stitch,
                frameSize: (
                    recipe.width > 0 ? recipe.width : video.format.width,
                    recipe.height > 0 ? recipe.height : video.format.height
                ), duration: duration, expectedFrames: Self.share(expected, of: index, from: first.start, to: last.end),
                warnings: warnings, losses: selection.losses + resolved.losses + resolved.allowedLosses,
                keepsFrames: resolved.keepsFrames, isStrict: order.settings.isStrict)
            planned.isEstimate = index.keyframes.sampleCount == nil || !resolved.keepsFrames
            return planned
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .timing, "The time line of \(order.source) cannot be told exactly: \(error)", exitCode: .badSource)
        }
    }

    private func missingEnd(_ missing: MissingEnd, from end: MediaTime, origin: MediaTime) throws -> JobReport.Damage {
        let start = try end.subtracting(origin)
        let promised = try missing.end.map { try MediaTime(ticks: $0, in: video.timeBase).subtracting(origin) }
        return JobReport.Damage(
            track: video.index, kind: .dropped, start: start, end: max(start, promised ?? start),
            frames: missing.frames, detail: missing.words)
    }

    /// A header that says the picture lasts longer than it does. It is not believed, but somebody may miss the rest.
    private func promisedEnd(_ index: SourceIndex) -> [String] {
        guard let promised = video.durationTicks,
            let told = try? MediaTime(ticks: promised, in: video.timeBase).seconds,
            let found = try? MediaTime(ticks: index.keyframes.end &- index.keyframes.start, in: video.timeBase).seconds,
            told > found + 1, told > found * 1.02
        else { return [] }
        func text(_ seconds: Double) -> String { "\((seconds * 100).rounded() / 100) s" }
        return [
            "The header says that the picture lasts \(text(told)); the file holds \(text(found)) of it, and that is exported."
        ]
    }

    /// Frames of the exported range, where the index counted those of the whole source.
    private static func share(_ frames: Int, of index: SourceIndex, from start: Int64, to end: Int64) -> Int {
        let whole = Double(index.keyframes.end) - Double(index.keyframes.start)
        guard index.keyframes.sampleCount != nil, whole > 0 else { return frames }
        return Int((Double(frames) * min(1, (Double(end) - Double(start)) / whole)).rounded())
    }

    private static func estimatedFrames(_ track: Track, duration: MediaTime) -> Int {
        let rate = max(
            track.averageFrameRate?.approximation ?? 0, track.realFrameRate.map { min($0.approximation, 240) } ?? 0)
        return Int(min(1e9, duration.seconds * max(25, rate) * 1.05)) + 64
    }

    private static func chapters(
        _ chapters: [Chapter], origin: MediaTime, isRanged: Bool, end: MediaTime
    ) throws -> [Chapter] {
        try chapters.compactMap { chapter in
            let offset = try origin.ticks(in: chapter.timeBase)
            let limit = try end.ticks(in: chapter.timeBase)
            var moved = chapter
            let (start, isLow) = chapter.start.subtractingReportingOverflow(offset)
            let (end, isHigh) = (isRanged ? min(chapter.end, limit) : chapter.end).subtractingReportingOverflow(offset)
            // No chapter of a film has such a time.
            guard !isLow, !isHigh else { return nil }
            moved.start = max(0, start)
            moved.end = end
            return moved.end > moved.start ? moved : nil
        }
    }

    /// Hash of everything that decides the output.
    private func jobID(
        source: SourceReference, recipe: EncodeRecipe, segments: [Segment], carried: [CarriedTrack]
    ) throws -> String {
        struct Identity: Encodable {
            var source: SourceReference
            var destination: String
            var recipe: EncodeRecipe
            var segments: [Segment]
            var carried: [CarriedTrack]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let identity = Identity(
            source: source, destination: order.destination, recipe: recipe, segments: segments, carried: carried)
        var hash = ContentHash()
        hash.update(Array(try encoder.encode(identity)))
        return String(hash.finish().prefix(12))
    }
}
