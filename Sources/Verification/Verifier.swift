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
    let range: VerificationRange
    let declared: DeclaredLosses
    let interrupt: InterruptFlag

    /// - Parameters:
    ///   - full: decodes both films and compares them picture by picture, and the sound at several places; takes as long as
    ///     playing them at full speed.
    ///   - range: the part of the source that the output is to hold.
    ///   - declared: losses that are known, and no findings.
    package init(
        source: String, output: String, full: Bool, range: VerificationRange = .init(),
        declared: DeclaredLosses = .init(), interrupt: InterruptFlag = InterruptFlag()
    ) {
        sourceLocation = source
        outputLocation = output
        isFull = full
        self.range = range
        self.declared = declared
        self.interrupt = interrupt
    }

    /// - Throws: where either file cannot be opened, or the source has no film that can be compared. What is wrong between two
    ///   readable files is a finding.
    package func report() throws(Failure) -> VerificationReport {
        var source = try FileScan(sourceLocation, interrupt: interrupt)
        let output = try FileScan(outputLocation, joinsPieces: false, interrupt: interrupt)
        let film = try PictureTrack.find(in: source.tracks.map(\.track), of: sourceLocation)
        if !range.isWhole { try source.limit(to: range, film: film.index) }
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
            shift = try CommonShift(picture: source.tracks[film.index], first)
        }
        if range.isWhole, let first = films.first,
            let part = try DeducedRange(self, source: source.tracks[film.index], output: first)
        {
            judge.find(.missing, track: film.index, part.advice)
        }
        try comparePictureTracks(source, output, shift: shift, &judge)
        try compareSound(source, output, shift: shift, &judge)
        let captions = output.tracks(of: .subtitle)
        for (index, track) in source.tracks(of: .subtitle).enumerated() {
            guard let match = judge.match(track, captions, index) else { continue }
            try judge.subtitles(track, match, shift: shift)
        }
        judge.otherTracks(source, output)
        judge.timecode(source, output)
        judge.chapters(source, output, shift: shift?.seconds ?? 0)
        judge.tags(source, output)
        judge.structure(of: outputLocation, output)
        if isFull, let shift, let match = films.first {
            let trims = try trims(source, film.index, output, match)
            try comparePictures(source.tracks[film.index], match, shift: shift, trims: trims, judge: &judge)
        }
        var report = judge.report
        report.accept(declared)
        return report
    }

    private func comparePictureTracks(
        _ source: FileScan, _ output: FileScan, shift: CommonShift?, _ judge: inout Judge
    ) throws(Failure) {
        let films = output.tracks(of: .video)
        for (index, track) in source.tracks(of: .video).enumerated() {
            guard let match = judge.match(track, films, index), let shift else { continue }
            try judge.pictureTimes(track, match, shift: shift, isFirst: index == 0)
            let first = try FirstPicture(sourceLocation, track: track.track, interrupt: interrupt)
            let other = try FirstPicture(outputLocation, track: match.track, interrupt: interrupt)
            judge.pictureShape(
                track.track, match.track,
                seen: ShownPicture(track.track, source.croppings[track.track.index], first),
                ShownPicture(match.track, output.croppings[match.track.index], other))
            judge.pictureContent(first, other, of: track.track, match.track)
        }
    }

    private func compareSound(
        _ source: FileScan, _ output: FileScan, shift: CommonShift?, _ judge: inout Judge
    ) throws(Failure) {
        let sounds = output.tracks(of: .audio)
        for (index, track) in source.tracks(of: .audio).enumerated() {
            guard let match = judge.match(track, sounds, index) else { continue }
            let content = shift.map {
                SoundContent(self, track, match, shift: $0.seconds, places: isFull ? 6 : 1)
            }
            try judge.sound(track, match, shift: shift) { content?.offsets.first?.offset }
            guard isFull, let content else { continue }
            judge.soundContent(content, of: track.track.index)
        }
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

    mutating func likeness(_ marks: [VerificationReport.Mark], joins: [VerificationReport.Join]) {
        let (decibels, similarities) = (marks.map(\.decibels), marks.map(\.similarity))
        report.comparedPictures = marks.count
        report.lowestPSNR = decibels.min()
        report.meanPSNR = decibels.reduce(0, +) / Double(max(1, marks.count))
        report.lowestSSIM = similarities.min()
        report.meanSSIM = similarities.reduce(0, +) / Double(max(1, marks.count))
        report.likeness = marks
        report.joins = joins
    }

    mutating func sync(_ sync: VerificationReport.Sync) { report.sync.append(sync) }

    mutating func structure(_ structure: VerificationReport.Structure) { report.structure = structure }

    mutating func timeErrors(_ errors: [VerificationReport.TimeError]) { report.timeErrors = errors }

    /// Errors of a track's times, seconds.
    mutating func timeError(track: Int, max: Double, mean: Double) {
        guard let index = report.tracks.firstIndex(where: { $0.index == track }) else { return }
        report.tracks[index].maxTimeError = max
        report.tracks[index].meanTimeError = mean
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
                output: match?.times.count ?? 0, sourceSeconds: track.seconds, outputSeconds: match?.seconds))
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

    private mutating func disposition(_ source: Track, _ output: Track) {
        for (mark, name) in Track.Disposition.marks
        where source.disposition.contains(mark) != output.disposition.contains(mark) {
            let verb = source.disposition.contains(mark) ? "loses" : "gains"
            note(.disposition, track: source.index, "The track \(verb) the mark \"\(name)\".")
        }
    }

    /// Data, covers, attachments.
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
        for scan in others(source) where !isJudgedElsewhere(scan.track, source) {
            if let index = left.firstIndex(where: { Self.isSameKind($0.track, scan.track) }) {
                let match = left.remove(at: index)
                if scan.track.mediaType == .data, scan.count != match.count {
                    find(
                        .missing, track: scan.track.index,
                        "The data track \(scan.track.index) has \(scan.count) samples in the source and "
                            + "\(match.count) in the output.")
                }
            } else {
                let what = scan.track.mediaType == .video ? "cover" : "\(scan.track.mediaType.rawValue) track"
                let name = [
                    scan.track.format.codecName, scan.track.format.codecTag, scan.track.metadata["filename"] ?? "",
                ]
                .filter { !$0.isEmpty }.joined(separator: " ")
                find(
                    .missingTrack, track: scan.track.index,
                    "The output lacks the \(what) \(scan.track.index) (\(name)).")
            }
        }
    }

    /// A cover may be packed as a picture track by one container and as an attachment by another.
    private static func isSameKind(_ output: Track, _ source: Track) -> Bool {
        let isPicture = source.mediaType == .video
        return output.format.codecName == source.format.codecName
            && (output.mediaType == source.mediaType || isPicture && output.mediaType == .attachment)
            && (isPicture || source.format.codecName != "none" || output.format.codecTag == source.format.codecTag)
            && (source.metadata["filename"] == nil || isPicture
                || output.metadata["filename"] == source.metadata["filename"])
    }

    /// Tracks whose meaning is compared whatever its form: time codes, and QuickTime's chapters.
    private func isJudgedElsewhere(_ track: Track, _ file: FileScan) -> Bool {
        track.mediaType == .data
            && (track.format.codecTag == "tmcd" || track.format.codecTag == "text" && !file.chapters.isEmpty)
    }

    /// The first picture's time code, wherever a container tells it.
    mutating func timecode(_ source: FileScan, _ output: FileScan) {
        func codes(_ file: FileScan) -> [String] {
            ([file.metadata["timecode"]] + file.tracks.map { $0.track.metadata["timecode"] }).compactMap(\.self)
        }
        guard let wanted = codes(source).first else { return }
        let found = codes(output)
        if !found.contains(wanted) {
            find(
                .timecode,
                "The time code is \(wanted) in the source and \(found.first ?? "not told") in the output.")
        }
    }
}

extension TrackScan {
    /// From the first sample to the end of the last.
    fileprivate var seconds: Double {
        Double(extent) * Double(track.timeBase.numerator) / Double(track.timeBase.denominator)
    }
}
