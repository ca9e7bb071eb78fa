internal import ClusterProtocol
internal import Media
internal import SourceAccess

/// What becomes of metadata that changes from picture to picture: carried as it stands, given up with the user's word, or the end
/// of the export before anything is encoded.
struct DynamicCarriage {
    private(set) var carriesHDR10Plus = false
    private(set) var carriesDolbyVision = false
    /// What the user allowed to be lost.
    private(set) var losses: [String] = []

    /// - Throws: exit code 64 where something would be lost that nobody gave up.
    init(
        _ pictures: FirstPictures, sourceCodec: String, chain: PictureChain, container: Container, encoder: String,
        codec: String, allowed: Set<ExportSettings.AllowedLoss>
    ) throws(Failure) {
        guard !chain.mapsTone else { return }
        // It describes these pictures in this coding: what turns, cuts or grades them makes it untrue.
        let isSameKind = sourceCodec == "hevc" && codec == "hevc" && chain.filter.isEmpty
        carriesHDR10Plus = pictures.hasHDR10Plus && isSameKind
        carriesDolbyVision = pictures.hasDolbyVision && isSameKind && Self.stands(pictures.dolbyVision, in: container)

        var lost: [(loss: ExportSettings.AllowedLoss, name: String)] = []
        if pictures.hasHDR10Plus, !carriesHDR10Plus { lost.append((.hdr10Plus, "HDR10+ dynamic metadata")) }
        if pictures.hasDolbyVision, !carriesDolbyVision {
            let profile =
                pictures.dolbyVision.map { " (profile \($0.profile).\($0.compatibility))" }
                ?? " without a configuration record"
            lost.append((.dolbyVision, "Dolby Vision\(profile)"))
        }
        let refused = lost.filter { !allowed.contains($0.loss) }
        guard refused.isEmpty else { throw Self.refusal(refused, encoder, container, chain) }
        losses = lost.map { item in
            let isBare = item.loss == .dolbyVision && pictures.dolbyVision?.compatibility == 0
            return "\(item.name) is not carried, as allowed."
                + (isBare ? " Without it the colours of this profile are wrong: no other picture lies beneath." : "")
        }
    }

    /// One layer with its processing units can be coded anew beneath them; two layers (profiles 4 and 7) cannot. A container
    /// without the configuration record does not tell a player.
    private static func stands(_ configuration: DolbyVisionConfiguration?, in container: Container) -> Bool {
        guard let configuration, [5, 8].contains(configuration.profile) else { return false }
        return container.isMovie || container == .matroska
    }

    private static func refusal(
        _ refused: [(loss: ExportSettings.AllowedLoss, name: String)], _ encoder: String, _ container: Container,
        _ chain: PictureChain
    ) -> Failure {
        let words = refused.map(\.loss.rawValue).joined(separator: ",")
        let names = refused.map(\.name).joined(separator: " and ")
        let way = chain.filter.isEmpty ? "\(encoder) in \(container)" : "\(encoder) behind a filter"
        return Failure(
            .format, "The source has \(names), which \(way) cannot carry.",
            advice:
                "--allow-loss \(words) exports without; --video-codec copy keeps it, and hevc does where the source is HEVC "
                + "and nothing is filtered; --tonemap sdr makes SDR.",
            fault: .settings, exitCode: .usage)
    }
}
