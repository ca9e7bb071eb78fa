internal import ClusterProtocol
internal import Media
internal import MediaTime

/// What lies in a file without a place on its time line: attached files (fonts) and cover pictures. Matroska holds both as
/// attachments (RFC 9559 §5.1.6), a movie holds pictures only, as `covr` in its tags.
struct Enclosures {
    private var pictures: [(track: Int, sample: Sample)] = []

    init(_ job: StitchJob, feed: SourceFeed, muxer: Muxer) throws(MediaError) {
        for carried in job.carried where carried.isEnclosure && job.tracks.indices.contains(carried.track) {
            let track = job.tracks[carried.track]
            if track.mediaType == .attachment {
                _ = try muxer.addTrack(
                    format: track.format, timeBase: .milliseconds,
                    metadata: Self.named(job.tags(of: track), fallback: "attachment-\(track.index)"))
                continue
            }
            guard let sample = feed.cover(ofTrack: track.index) else { continue }
            if job.container.isMatroska {
                let type = Self.mimeType(track.format.codecName)
                let bytes = sample.withUnsafeBytes { Array($0) }
                var tags = Self.named(
                    job.tags(of: track),
                    fallback: "cover." + (type.split(separator: "/").last.map(String.init) ?? "jpg"))
                if tags["mimetype"] == nil { tags["mimetype"] = type }
                _ = try muxer.addTrack(
                    format: try track.format.asAttachment(bytes), timeBase: .milliseconds, metadata: tags)
            } else {
                let number = try muxer.addTrack(
                    format: track.format, timeBase: .milliseconds, metadata: job.tags(of: track),
                    disposition: .attachedPicture)
                pictures.append((number, sample))
            }
        }
    }

    /// libavformat takes a movie's cover as the one sample of its track.
    func writePictures(_ muxer: Muxer) throws(MediaError) {
        for (track, sample) in pictures {
            try muxer.write(sample.retimed(pts: 0, dts: 0, duration: 0, timeBase: .milliseconds), track: track)
        }
    }

    /// Bytes that the pictures take in a movie's index.
    static func size(_ job: StitchJob, _ feed: SourceFeed) -> Int {
        guard job.container.isMovie else { return 0 }
        return job.carried.filter(\.isEnclosure).reduce(0) { sum, carried in
            sum + (feed.cover(ofTrack: carried.track)?.size ?? 0) + 1024
        }
    }

    /// Matroska needs a file name.
    private static func named(_ tags: Metadata, fallback: String) -> Metadata {
        var tags = tags
        if tags["filename"] == nil { tags["filename"] = fallback }
        return tags
    }

    private static func mimeType(_ codec: String) -> String {
        switch codec {
        case "png": "image/png"
        case "gif": "image/gif"
        case "bmp": "image/bmp"
        case "webp": "image/webp"
        case "tiff": "image/tiff"
        default: "image/jpeg"
        }
    }
}
