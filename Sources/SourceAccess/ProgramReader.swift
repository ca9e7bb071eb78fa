package import Media
internal import MediaTime

/// Reads the samples of a source with their times on the one time line of their program (`ProgramClock`).
///
/// Every reader that begins at the beginning sees the same times, whichever tracks it wants: all dense tracks of a program are read
/// where its clock may jump. Used from one thread.
package final class ProgramReader {
    /// A sample at its place.
    package struct Item {
        package var sample: Sample
        /// As it stands in the source.
        package var raw: Int64?
        /// What is added to the source's times changes with this sample.
        package var isJump: Bool
    }

    private let demuxer: Demuxer
    private let wanted: Set<Int>?
    private let isDiscontinuous: Bool
    private let joinsPieces: Bool
    private let survivesDamage: Bool
    private var clocks: [Int: ProgramClock<Sample>] = [:]
    private var programs: [Int: Int] = [:]
    private var queue: ArraySlice<ProgramClock<Sample>.Placed> = []
    private var isAtEnd = false

    /// - Parameters:
    ///   - demuxer: not yet read.
    ///   - tracks: those whose samples are delivered; `nil` for all.
    ///   - survivesDamage: a file that is cut off ends where it does (`Demuxer.cutOff`), instead of failing there.
    ///   - joinsPieces: false for a file that is to be one piece, whose jumps are to be seen.
    package init(_ demuxer: Demuxer, tracks: Set<Int>? = nil, joinsPieces: Bool = true, survivesDamage: Bool = false) {
        self.survivesDamage = survivesDamage
        self.demuxer = demuxer
        self.joinsPieces = joinsPieces
        wanted = tracks
        isDiscontinuous = ContainerAccess(demuxer.containerName).isDiscontinuous
        guard let tracks else { return }
        var read = tracks
        if isDiscontinuous {
            let programs = Set(tracks.map { demuxer.program(ofTrack: $0) })
            for track in demuxer.tracks where Self.isDense(track) {
                if programs.contains(demuxer.program(ofTrack: track.index)) { read.insert(track.index) }
            }
        }
        demuxer.select(tracks: read)
    }

    private static func isDense(_ track: Track) -> Bool {
        track.mediaType == .audio || (track.mediaType == .video && !PictureTrack.isStill(track))
    }

    /// The next sample of a wanted track in the file's order; `nil` at the end.
    package func next() throws(MediaError) -> Item? {
        guard isDiscontinuous else {
            while let sample = try read() {
                guard wanted?.contains(sample.track) ?? true else { continue }
                return Item(sample: sample, raw: sample.dts ?? sample.pts, isJump: false)
            }
            return nil
        }
        while true {
            while let placed = queue.popFirst() {
                let sample = placed.item
                guard wanted?.contains(sample.track) ?? true else { continue }
                return Item(
                    sample: sample.retimed(
                        pts: placed.pts, dts: placed.dts, duration: sample.duration, timeBase: sample.timeBase),
                    raw: sample.dts ?? sample.pts, isJump: placed.isJump)
            }
            guard !isAtEnd else { return nil }
            guard let sample = try read() else {
                isAtEnd = true
                for program in clocks.keys.sorted() { queue += clocks[program]?.finish() ?? [] }
                continue
            }
            place(sample)
        }
    }

    private func read() throws(MediaError) -> Sample? {
        survivesDamage ? try demuxer.readToEnd() : try demuxer.readSample()
    }

    private func place(_ sample: Sample) {
        let program: Int
        if let known = programs[sample.track] {
            program = known
        } else {
            program = demuxer.program(ofTrack: sample.track)
            programs[sample.track] = program
        }
        let isDense = demuxer.tracks.indices.contains(sample.track) && Self.isDense(demuxer.tracks[sample.track])
        let stamp = ProgramClock<Sample>.Stamp(
            track: sample.track, dts: sample.dts, pts: sample.pts, duration: sample.duration, isDense: isDense,
            size: sample.size)
        let clock = ProgramClock<Sample>(timeBase: sample.timeBase, joinsPieces: joinsPieces)
        queue += clocks[program, default: clock].add(sample, stamp)
    }

    /// How often the clock of a track's program was set anew until now.
    package func jumps(ofTrack track: Int) -> Int { clocks[programs[track] ?? -1]?.jumps ?? 0 }
}
