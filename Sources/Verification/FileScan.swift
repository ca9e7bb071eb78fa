internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SourceAccess

/// One pass over a file: every track's time line, and what the container says of itself. Nothing is decoded but a doubtful
/// opening, and the first and last moments of sound.
struct FileScan {
    let location: String
    let containerName: String
    let isMatroska: Bool
    let metadata: Metadata
    private(set) var chapters: [Chapter]
    private(set) var tracks: [TrackScan]
    /// What the container has cut off pictures, by track.
    private(set) var croppings: [Int: PictureCropping] = [:]
    /// How far the samples of one time lie from each other in the file.
    private(set) var interleaving = InterleavingCheck()
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
                interleaving.add(sample, type: tracks[sample.track].track.mediaType)
            }
            for index in tracks.indices { tracks[index].finish() }
            for scan in tracks(of: .video) {
                croppings[scan.track.index] = try demuxer.cropping(ofTrack: scan.track.index)
            }
        } catch {
            throw Failure(error, role: .source)
        }
    }

    /// Leaves what lies in a part of the presentation.
    ///
    /// - Parameters:
    ///   - range: from and to, from the film's first picture on.
    ///   - film: index of the film's track.
    mutating func limit(to range: VerificationRange, film: Int) throws(Failure) {
        guard tracks.indices.contains(film), let first = tracks[film].times.first else { return }
        let unit = tracks[film].track.timeBase
        for index in tracks.indices {
            let own = tracks[index].track.timeBase
            func ticks(_ time: MediaTime?) throws(Failure) -> Int64? {
                guard let time else { return nil }
                do {
                    let inFilm = try first &+ time.ticks(in: unit)
                    return index == film ? inFilm : try MediaTime(ticks: inFilm, in: unit).ticks(in: own)
                } catch {
                    throw Failure(.timing, "The range cannot be told in the time base of \(location): \(error)")
                }
            }
            tracks[index].limit(from: try ticks(range.start), to: try ticks(range.end))
        }
        let base = MediaTime.zero.seconds + Double(first) * Double(unit.numerator) / Double(unit.denominator)
        let (low, high) = (base + (range.start?.seconds ?? 0), base + (range.end?.seconds ?? .infinity))
        chapters = chapters.compactMap { chapter in
            let unit = Double(chapter.timeBase.numerator) / Double(chapter.timeBase.denominator)
            let (start, end) = (Double(chapter.start) * unit, Double(chapter.end) * unit)
            guard end > low || end <= start, start < high else { return nil }
            var kept = chapter
            kept.start = max(chapter.start, Int64(max(-9e18, min(9e18, low / unit))))
            return kept
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
