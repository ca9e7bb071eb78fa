internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Stitching

/// What a rerun with other settings has to fit: how the other segments of the job are made.
struct RerunBase: Codable, Sendable {
    var recipe: EncodeRecipe
    var source: SourceReference
    var container: String
    var first: Segment
    var seconds: Double

    /// - Returns: `nil` for a job without a picture to encode.
    init?(_ plan: PlannedExport) {
        guard let first = plan.segments.first, plan.recipe.encoder != "copy" else { return nil }
        recipe = plan.recipe
        source = plan.source
        container = plan.stitch.container.rawValue
        self.first = first
        seconds = plan.duration.seconds
    }
}

/// The recipe of segments that are rerun with other settings.
struct RerunRecipe: Sendable {
    let recipe: EncodeRecipe
    /// What the stitch has to reckon with.
    let mixing: FormatMixing

    /// What a plan with those settings would have. Opens the source and both encoders: blocks.
    /// - Throws: exit code 64 where its samples cannot be in one track with the others.
    init(_ settings: ExportSettings, like base: RerunBase, interrupt: InterruptFlag) throws(Failure) {
        if let change = base.source.changeSincePlanned() { throw change }
        let pictures = try FirstPictures(base.source, segment: base.first, interrupt: interrupt)
        let track: Track
        let cropping: PictureCropping?
        do {
            let demuxer = try Demuxer(location: base.source.location, interrupt: interrupt)
            track = try PictureTrack.find(in: demuxer.tracks, of: base.source.location)
            cropping = try demuxer.cropping(ofTrack: track.index)
        } catch let error as MediaError {
            throw Failure(error, role: .source)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.asset, "The source cannot be opened: \(error)")
        }
        let fresh = try RecipeResolver(
            settings: settings, track: track, cropping: cropping, container: Container(rawValue: base.container),
            seconds: base.seconds, audioBitrate: 0, pictures: pictures
        ).resolve().recipe
        guard fresh.encoder == base.recipe.encoder else {
            throw Self.unfit("\(fresh.encoder) and \(base.recipe.encoder) do not go together in one track")
        }
        do throws(MediaError) {
            let old = try PicturePath(recipe: base.recipe, picture: SourcePicture(track)).makeEncoder().format
            let new = try PicturePath(recipe: fresh, picture: SourcePicture(track)).makeEncoder().format
            switch old.joining(new) {
            // Some encoders know their parameter sets only with the first picture.
            case .equal: mixing = .allowed
            case .inBand: mixing = .expected
            case .impossible(let difference):
                let sizes = (old.width, old.height) == (new.width, new.height) ? "" : Self.sizes(old, new)
                throw MediaError(.encoder, .invalidSettings, "\(difference) differs\(sizes)")
            }
        } catch {
            if error.reason == .invalidSettings { throw Self.unfit(error.message) }
            throw Failure(error, role: .encode)
        }
        recipe = fresh
    }

    private static func sizes(_ old: FormatDescription, _ new: FormatDescription) -> String {
        " (\(new.width)×\(new.height) against \(old.width)×\(old.height))"
    }

    private static func unfit(_ reason: String) -> Failure {
        Failure(
            .encoder, "A rerun with these settings does not fit the other segments: \(reason).",
            advice: "Keep encoder, frame size, pixel format and profile for a rerun, or submit the job anew.",
            fault: .settings, exitCode: .usage)
    }
}
