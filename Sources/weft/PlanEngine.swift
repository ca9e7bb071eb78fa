internal import ClusterProtocol
internal import Coordinator
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
        let settings = request.settings
        let indexer = SourceIndexer(
            location: request.source, track: track, target: settings.segmentDuration, interrupt: interrupt)
        let index = try indexer.makeIndex()
        do {
            let timeBase = index.keyframes.timeBase
            let plan = try SegmentPlan.make(
                index: index.keyframes, target: settings.segmentDuration ?? SegmentPlan.defaultTarget,
                start: settings.start.map { try index.keyframes.start &+ $0.ticks(in: timeBase) },
                end: settings.end.map { try index.keyframes.start &+ $0.ticks(in: timeBase) })
            var report = try report(request.source, track: track, index: index, plan: plan)
            try addCarriage(to: &report, request, index, interrupt)
            return report
        } catch let error as SegmentPlanError {
            throw Failure(planning: error, request.source)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .timing, "The times of \(request.source) cannot be planned with: \(error).", exitCode: .badSource)
        }
    }

    /// What the export itself decides.
    /// - Throws: what would stop an export to a destination that somebody named.
    private static func addCarriage(
        to report: inout PlanReport, _ request: PlanRequest, _ index: SourceIndex, _ interrupt: InterruptFlag
    ) throws {
        let order = ExportOrder(
            source: request.source, destination: request.destination, settings: request.settings,
            stated: request.stated, stateDirectory: "", executable: "")
        var planned: [Segment]?
        do throws(Failure) {
            let preview = try ExportPreview(order, index: index, interrupt: interrupt)
            report.target = preview.container
            (report.carried, report.losses, report.warnings) = (preview.carried, preview.losses, preview.warnings)
            planned = preview.segments
        } catch {
            guard !request.isTargeted else { throw error }
            let name = request.destination.split(separator: ".").last.map { ".\($0)" } ?? ""
            report.warnings.append("An export to \(name) with these options would be refused: \(error.message)")
        }
        if let planned { report.segments = try segments(planned, index.keyframes.timeBase) }
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
            segments: try segments(plan.segments, unit), warnings: warnings, target: nil, carried: [], losses: [])
    }

    private static func segments(_ segments: [Segment], _ unit: TimeBase) throws -> [PlanReport.Segment] {
        func time(_ ticks: Int64) throws -> MediaTime { try MediaTime(ticks: ticks, in: unit) }
        return try segments.map { segment in
            PlanReport.Segment(
                index: segment.index, start: try time(segment.start), end: try time(segment.end),
                keyframePts: try time(segment.keyframe.pts), leading: segment.keyframe.leading,
                entryPts: segment.entry == segment.keyframe && segment.start <= segment.keyframe.pts
                    ? nil : try time(segment.entry.pts))
        }
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
