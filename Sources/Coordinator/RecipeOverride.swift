internal import ClusterProtocol
internal import Media
internal import SourceAccess
internal import MediaTime

extension JobRunner {
    /// The recipe of segments that are rerun with other settings: what a plan with those settings would have.
    func recipe(_ settings: ExportSettings, like plan: PlannedExport) throws(Failure) -> EncodeRecipe {
        let demuxer: Demuxer
        do {
            demuxer = try Demuxer(location: order.source, interrupt: interrupt)
        } catch {
            throw Failure(error, role: .source)
        }
        let track = try PictureTrack.find(in: demuxer.tracks, of: order.source)
        let fresh = try RecipeResolver(
            settings: settings, track: track, container: plan.stitch.container, seconds: plan.duration.seconds,
            audioBitrate: 0
        ).resolve().recipe
        let base = plan.recipe
        guard
            (fresh.encoder, fresh.width, fresh.height, fresh.pixelFormat)
                == (base.encoder, base.width, base.height, base.pixelFormat)
        else {
            throw Failure(
                .encoder,
                "A rerun with \(fresh.encoder) at \(fresh.width)×\(fresh.height) does not fit the other segments "
                    + "(\(base.encoder) at \(base.width)×\(base.height)).",
                advice: "Keep the encoder and the frame size, or submit the job anew.", fault: .settings,
                exitCode: .usage)
        }
        return fresh
    }
}
