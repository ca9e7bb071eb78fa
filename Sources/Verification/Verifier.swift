package import ClusterProtocol
package import Media
internal import MediaTime
internal import SourceAccess

/// Holds an output against its source: every track's time line, what the tracks are called and how they are to be shown, the
/// container's structure, and with `full` the pictures themselves. Either file may have been made by anyone.
///
/// Blocking; used from one thread.
package struct Verifier {
    let sourceLocation: String
    let outputLocation: String
    let isFull: Bool
    let interrupt: InterruptFlag

    /// - Parameter full: decodes both films and compares luma picture by picture; takes as long as playing them at full speed.
    package init(source: String, output: String, full: Bool, interrupt: InterruptFlag = InterruptFlag()) {
        sourceLocation = source
        outputLocation = output
        isFull = full
        self.interrupt = interrupt
    }

    /// - Throws: where either file cannot be opened, or the source has no film that can be compared. What is wrong between two
    ///   readable files is a finding.
    package func report() throws(Failure) -> VerificationReport {
        let source = try FileScan(sourceLocation, interrupt: interrupt)
        let output = try FileScan(outputLocation, joinsPieces: false, interrupt: interrupt)
        let film = try PictureTrack.find(in: source.tracks.map(\.track), of: sourceLocation)
        var judge = Judge()
        judge.readability(of: source, output)

        // One clock for all tracks: the film's.
        var shift: CommonShift?
        let films = output.tracks(of: .video)
        if let first = films.first {
            guard !first.track.isEncrypted else {
                _ = try PictureTrack.find(in: [first.track], of: outputLocation)
                return judge.report
            }
            let common = try CommonShift(picture: source.tracks[film.index], first)
            shift = common
        }
        for (index, track) in source.tracks(of: .video).enumerated() {
            guard let match = judge.match(track, films, index), let shift else { continue }
            try judge.pictureTimes(track, match, shift: shift, isMatroska: output.isMatroska)
            judge.pictureShape(track.track, match.track)
            try judge.pictureContent(
                FirstPicture(sourceLocation, track: track.track, interrupt: interrupt),
                FirstPicture(outputLocation, track: match.track, interrupt: interrupt), of: track.track, match.track)
        }
        let sounds = output.tracks(of: .audio)
        for (index, track) in source.tracks(of: .audio).enumerated() {
            guard let match = judge.match(track, sounds, index) else { continue }
            try judge.sound(track, match, shift: shift) {
                guard let shift,
                    let left = SoundExcerpt(sourceLocation, track: track.track.index, interrupt: interrupt),
                    let right = SoundExcerpt(outputLocation, track: match.track.index, interrupt: interrupt)
                else { return nil }
                return SoundCorrelation.lag(left, right, shift: shift.seconds)
            }
        }
        let captions = output.tracks(of: .subtitle)
        for (index, track) in source.tracks(of: .subtitle).enumerated() {
            guard let match = judge.match(track, captions, index) else { continue }
            try judge.subtitles(track, match, shift: shift)
        }
        judge.otherTracks(source, output)
        judge.chapters(source, output, shift: shift?.seconds ?? 0)
        judge.tags(source, output)
        judge.structure(of: outputLocation, output)
        if isFull, let shift, let match = films.first {
            try comparePictures(source.tracks[film.index], match, shift: shift, judge: &judge)
        }
        return judge.report
    }
}

/// Gathers what is found.
struct Judge {
    private(set) var report = VerificationReport()

    mutating func find(_ kind: Finding.Kind, track: Int = -1, _ detail: String) {
        report.findings.append(Finding(kind, track: track, detail))
    }

    mutating func note(_ kind: Finding.Kind, track: Int = -1, _ detail: String) {
        report.notes.append(Finding(kind, track: track, detail))
    }

    mutating func likeness(pictures: Int, lowest: Double?, mean: Double?) {
        report.comparedPictures = pictures
        report.lowestPSNR = lowest
        report.meanPSNR = mean
    }

    mutating func readability(of source: FileScan, _ output: FileScan) {
        for text in source.damage { note(.damage, "The source: \(text)") }
        for text in output.damage { find(.damage, "The output: \(text)") }
    }

    /// The output's track of the same kind at the same place, with the counts noted.
    mutating func match(_ track: TrackScan, _ candidates: [TrackScan], _ index: Int) -> TrackScan? {
        let match = index < candidates.count ? candidates[index] : nil
        report.tracks.append(
            VerificationReport.TrackCount(
                index: track.track.index, mediaType: track.track.mediaType.rawValue, source: track.times.count,
                output: match?.times.count ?? 0))
        guard let match else {
            find(
                .missingTrack, track: track.track.index,
                "The output lacks the \(track.track.mediaType.rawValue) track \(track.track.index) "
                    + "(\(track.track.format.codecName)\(track.track.language.map { ", \($0)" } ?? "")).")
            return nil
        }
        if let language = track.track.language, language != match.track.language {
            find(
                .language, track: track.track.index,
                "The language is \(language) in the source and \(match.track.language ?? "not told") in the output.")
        }
        disposition(track.track, match.track)
        return match
    }

    /// But for "default": most containers call the first track of a kind that, which is no news.
    private mutating func disposition(_ source: Track, _ output: Track) {
        let named: [(Track.Disposition, String)] = [
            (.forced, "forced"), (.commentary, "commentary"),
            (.hearingImpaired, "hearing impaired"), (.visualImpaired, "visual impaired"), (.original, "original"),
            (.dub, "dub"), (.captions, "captions"), (.descriptions, "descriptions"),
        ]
        for (flag, name) in named where source.disposition.contains(flag) != output.disposition.contains(flag) {
            let verb = source.disposition.contains(flag) ? "loses" : "gains"
            note(.disposition, track: source.index, "The track \(verb) the mark \"\(name)\".")
        }
    }

    /// Data, covers, attachments: carried where a container can, said where not.
    mutating func otherTracks(_ source: FileScan, _ output: FileScan) {
        func others(_ file: FileScan) -> [TrackScan] {
            file.tracks.filter { scan in
                switch scan.track.mediaType {
                case .video: PictureTrack.isStill(scan.track)
                case .audio, .subtitle: false
                case .data, .attachment, .unknown: true
                }
            }
        }
        var left = others(output)
        for scan in others(source) {
            if let index = left.firstIndex(where: {
                $0.track.mediaType == scan.track.mediaType && $0.track.format.codecName == scan.track.format.codecName
            }) {
                left.remove(at: index)
            } else {
                note(
                    .missingTrack, track: scan.track.index,
                    "The output lacks the \(scan.track.mediaType.rawValue) track \(scan.track.index) "
                        + "(\(scan.track.format.codecName) \(scan.track.format.codecTag)).")
            }
        }
    }
}
