internal import Foundation
internal import Media

/// How the container is built: whether players can start early, seek and read on without keeping much.
extension Judge {
    /// Readers over a network keep about this much; seconds.
    private static let interleavingLimit = 5.0

    mutating func structure(of path: String, _ output: FileScan) {
        let boxes = output.containerName.contains("mp4") ? MovieLayout(ofFileAt: path) : nil
        let moov = boxes?.first("moov")
        let mdat = boxes?.first("mdat")
        let distance = output.interleaving.distance
        structure(
            .init(
                container: output.containerName, isFastStart: moov.map { $0 < mdat ?? .max },
                isFragmented: boxes.map { $0.first("moof") != nil }, interleaving: distance,
                editLists: output.tracks.filter { !$0.track.segments.isEmpty }.count))
        if distance > Self.interleavingLimit {
            find(
                .container,
                "Sound and picture of one moment lie up to \(Seconds.text(distance)) apart in the file; a reader has to seek, "
                    + "or keep more than \(Int(Self.interleavingLimit)) s.")
        }
        for scan in output.tracks { declaredLength(scan) }
        guard let boxes else { return }
        if let moov, let mdat, moov > mdat {
            note(.container, "The index follows the media: the file cannot be played while it is loaded.")
        }
        if moov == nil { find(.container, "The file has no index (moov).") }
        if !boxes.isWhole { find(.container, "A box of the file reaches beyond its end: it is cut off.") }
        // Without the table every sample is a sync sample (ISO/IEC 14496-12 §8.6.2); libavformat looks for itself, players do not.
        for scan in output.tracks(of: .video)
        where boxes.first("moof") == nil && scan.syncs.count < scan.times.count && !boxes.indexHas("stss") {
            find(
                .sync, track: scan.track.index,
                "The table of sync samples (stss) is missing: every picture is called a keyframe, and "
                    + "\(scan.times.count - scan.syncs.count) are none.")
        }
        // 32 bits of chunk offset end at 4 GiB (ISO/IEC 14496-12 §8.7.5); libavformat would read beyond as garbage.
        if boxes.mediaEnd > Int64(UInt32.max), boxes.indexHas("stco"), !boxes.indexHas("co64") {
            find(
                .container,
                "The media reach beyond 4 GiB and the index has chunk offsets of 32 bits (stco instead of co64).")
        }
    }

    /// A header that tells another length than the samples have misleads every seek bar.
    private mutating func declaredLength(_ scan: TrackScan) {
        guard let declared = scan.track.durationTicks, scan.times.count > 1,
            scan.track.mediaType == .video || scan.track.mediaType == .audio
        else { return }
        let unit = Double(scan.track.timeBase.numerator) / Double(scan.track.timeBase.denominator)
        let start = min(scan.times.first ?? 0, 0)
        let error = abs(Double(declared) - Double((scan.end ?? 0) &- start)) * unit
        let whole = abs(Double(declared) - Double(scan.extent)) * unit
        if min(error, whole) > 1 + 2 * Double(scan.longest) * unit {
            find(
                .container, track: scan.track.index,
                "The header says that the \(scan.track.mediaType.rawValue) track lasts \(Seconds.text(Double(declared) * unit)); its "
                    + "samples last \(Seconds.text(Double(scan.extent) * unit)).")
        }
    }
}
