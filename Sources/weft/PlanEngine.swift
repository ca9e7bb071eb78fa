internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess

extension SourceEngine {
    static func plan(_ request: PlanRequest) async throws(Failure) -> PlanReport {
        try await BlockingThread.run("plan") { () throws(Failure) in try makePlan(request) }
    }

    /// `--start` and `--end` are times of the presentation, which begins where the picture does.
    private static func makePlan(_ request: PlanRequest) throws(Failure) -> PlanReport {
        let interrupt = InterruptFlag()
        let track = try pictureTrack(of: request.source, interrupt: interrupt)
        let indexer = SourceIndexer(
            location: request.source, track: track, target: request.segmentDuration, interrupt: interrupt)
        var index = try indexer.makeIndex()
        do {
            let timeBase = index.keyframes.timeBase
            let target = request.segmentDuration ?? SegmentPlan.defaultTarget
            func make(_ index: SourceIndex) throws -> SegmentPlan {
                try SegmentPlan.make(
                    index: index.keyframes, target: target,
                    start: request.start.map { try index.keyframes.start &+ $0.ticks(in: timeBase) },
                    end: request.end.map { try index.keyframes.start &+ $0.ticks(in: timeBase) })
            }
            var plan = try make(index)
            if request.videoCodec != .copy,
                let groups = LongGroups(request.longGroups, cost: request.cost(of: track, index)),
                groups.wouldCut(plan, target: target)
            {
                if index.lacksInnerCuts {
                    index = try indexer.makeIndex(everySample: true)
                    plan = try make(index)
                }
                plan = groups.split(plan, index.keyframes, target: target)
            }
            return try report(request.source, track: track, index: index, plan: plan)
        } catch let error as SegmentPlanError {
            throw Failure(planning: error, request.source)
        } catch {
            throw Failure(
                .timing, "The times of \(request.source) cannot be planned with: \(error).", exitCode: .badSource)
        }
    }

    private static func pictureTrack(of source: String, interrupt: InterruptFlag) throws(Failure) -> Track {
        do {
            return try PictureTrack.find(in: Demuxer(location: source, interrupt: interrupt).tracks, of: source)
        } catch let error as MediaError {
            throw Failure(error, role: .source)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.asset, "\(source) cannot be opened: \(error)", exitCode: .badSource)
        }
    }

    private static func report(
        _ source: String, track: Track, index: SourceIndex, plan: SegmentPlan
    ) throws -> PlanReport {
        let unit = plan.timeBase
        func time(_ ticks: Int64) throws -> MediaTime { try MediaTime(ticks: ticks, in: unit) }
        let first = plan.segments.first?.start ?? 0
        let last = plan.segments.last?.end ?? 0
        var warnings = index.remarks(on: plan)
        if index.undecodable > 0 {
            warnings.append(
                "\(index.undecodable) samples before the first clean keyframe show nothing and are left out.")
        }
        return PlanReport(
            source: source, track: track.index, codec: track.format.codecName, timescale: unit.denominator,
            index: index.keyframes.origin.rawValue, keyframes: index.syncSampleCount,
            bytesRead: index.bytesRead, sourceBytes: index.bytesTotal > 0 ? index.bytesTotal : nil,
            duration: try time(last).subtracting(time(first)),
            segments: try plan.segments.map { segment in
                PlanReport.Segment(
                    index: segment.index, start: try time(segment.start), end: try time(segment.end),
                    keyframePts: try time(segment.keyframe.pts), leading: segment.keyframe.leading,
                    entryPts: segment.entry == segment.keyframe && segment.start <= segment.keyframe.pts
                        ? nil : try time(segment.entry.pts),
                    decodedAhead: LongGroups.ahead(of: segment, index.keyframes))
            },
            warnings: warnings)
    }
}

extension PlanRequest {
    /// As an export with these settings reckons, if it leaves the size of the picture as it is.
    fileprivate func cost(of track: Track, _ index: SourceIndex) -> CodingCost {
        let isKind = ["auto", "software", "hardware"].contains(encoder)
        let name =
            !isKind
            ? encoder
            : (encoder == "hardware"
                ? EncoderCatalog.hardwareEncoders(of: videoCodec.rawValue)
                : EncoderCatalog.softwareEncoders(of: videoCodec.rawValue)).first ?? encoder
        return CodingCost(
            source: track,
            result: .init(
                coder: name, width: track.format.width, height: track.format.height, options: encoderOptions),
            index)
    }
}

extension Failure {
    /// There is no plan.
    init(planning error: SegmentPlanError, _ source: String) {
        switch error {
        case .emptyTrack:
            self.init(
                .asset, "The video track of \(source) has no duration.", advice: "`weft probe` shows what it holds.",
                exitCode: .badSource)
        case .emptyRange:
            self.init(
                .timing, "The range lies outside the video track of \(source).",
                advice: "`weft probe` shows where it starts and how long it is.", fault: .settings, exitCode: .usage)
        case .invalidTarget, .invalidMinimum:
            self.init(
                .timing, "No plan can be made: \(error).", advice: "Correct --segment-duration.", fault: .settings,
                exitCode: .usage)
        }
    }
}
