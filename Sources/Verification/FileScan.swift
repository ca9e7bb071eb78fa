internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// One pass over a file: every track's time line, and what the container says of itself. Nothing is decoded but a doubtful
/// opening.
struct FileScan {
    let location: String
    let containerName: String
    let isMatroska: Bool
    let metadata: Metadata
    let chapters: [Chapter]
    private(set) var tracks: [TrackScan]
    /// What stopped or disturbed reading.
    private(set) var damage: [String] = []

    /// - Parameter joinsPieces: false for an output, whose clock must not jump.
    /// - Throws: where the file cannot be opened; what breaks later is `damage`.
    init(_ location: String, joinsPieces: Bool = true, interrupt: InterruptFlag) throws(Failure) {
        self.location = location
        do {
            let demuxer = try Demuxer(location: location, interrupt: interrupt)
            containerName = demuxer.containerName
            isMatroska = demuxer.isMatroska
            metadata = demuxer.metadata
            chapters = demuxer.chapters
            let reader = ProgramReader(demuxer, joinsPieces: joinsPieces)
            let storesDecodeTimes = !demuxer.isMatroska
            tracks = []
            func meetTracks() {
                for track in demuxer.tracks.dropFirst(tracks.count) {
                    tracks.append(TrackScan(track: track, storesDecodeTimes: storesDecodeTimes))
                }
            }
            meetTracks()
            while let sample = try read(reader) {
                if sample.track >= tracks.count { meetTracks() }
                guard tracks.indices.contains(sample.track) else { continue }
                tracks[sample.track].add(sample)
            }
            for index in tracks.indices { tracks[index].finish() }
        } catch {
            throw Failure(error, role: .source)
        }
    }

    private mutating func read(_ reader: ProgramReader) throws(MediaError) -> Sample? {
        do {
            return try reader.next()?.sample
        } catch {
            guard error.reason == .invalidData else { throw error }
            damage.append(error.message)
            return nil
        }
    }

    /// The film's tracks, sound, subtitles: what a viewer sees and hears, in the container's order.
    func tracks(of type: MediaType) -> [TrackScan] {
        tracks.filter { $0.track.mediaType == type && (type != .video || !PictureTrack.isStill($0.track)) }
    }
}
