internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess

/// The pictures themselves: both films are decoded side by side.
extension Verifier {
    func comparePictures(
        _ source: TrackScan, _ output: TrackScan, shift: CommonShift, trims: Trims, judge: inout Judge
    ) throws(Failure) {
        let joins = try joinTimes(source, output, shift: shift)
        let isOneForOne = source.times.count == output.times.count
        var isByOrder = isOneForOne && source.unshown > 0
        var likeness = try measure(source, output, shift: shift, joins: joins, trims: trims, pairsByOrder: isByOrder)
        // A container without presentation times (a raw stream, H.264 with B pictures in AVI, movies without composition offsets): what
        // the decoder tells are decode times, handed on with the wrong pictures. Their order is all there is.
        if likeness.isDisordered, isOneForOne, !isByOrder {
            isByOrder = true
            likeness = try measure(source, output, shift: shift, joins: joins, trims: trims, pairsByOrder: true)
        }
        if isByOrder {
            let reason =
                switch source.unshown {
                case 0: "The source's decoder tells no rising times"
                case source.times.count...: "The source does not store when its pictures are shown"
                default: "The source does not store of all its pictures when they are shown"
                }
            judge.note(.timestamps, track: source.track.index, "\(reason); pictures were compared in their order.")
        }
        let track = source.track.index
        guard !likeness.marks.isEmpty else {
            return judge.find(
                .picture, track: track, "No picture of the output could be compared with one of the source.")
        }
        if likeness.sourceDamage > 0 {
            judge.note(.damage, track: track, "\(likeness.sourceDamage) samples of the source cannot be decoded.")
        }
        if likeness.outputDamage > 0 {
            judge.find(.damage, track: track, "\(likeness.outputDamage) samples of the output cannot be decoded.")
        }
        if likeness.sourceCaptions > 0, likeness.outputCaptions < likeness.sourceCaptions {
            judge.find(
                .missing, track: track,
                "\(likeness.sourceCaptions) pictures of the source carry closed captions, \(likeness.outputCaptions) of the output."
            )
        }
        let search = SeamSearch(marks: likeness.marks, joins: joins) { likeness.continuity[$0] }
        judge.likeness(likeness.marks, joins: search.joins)
        for run in likeness.neighbours.runs {
            judge.find(.picture, track: track, run)
        }
        for seam in search.findings { judge.find(seam.kind, track: track, seam.detail) }
    }

    /// Filters that cut off what the containers do not show.
    struct Trims {
        var source = ""
        var output = ""
    }

    func trims(_ source: FileScan, _ film: Int, _ output: FileScan, _ match: TrackScan) throws(Failure) -> Trims {
        func shown(_ file: FileScan, _ track: Track) throws(Failure) -> ShownPicture {
            let first = try FirstPicture(file.location, track: track, interrupt: interrupt)
            return ShownPicture(track, file.croppings[track.index], first)
        }
        guard !source.croppings.isEmpty || !output.croppings.isEmpty else { return Trims() }
        let seen = try shown(source, source.tracks[film].track)
        let found = try shown(output, match.track)
        // Where the output shows the whole picture, that is what there is to compare.
        return seen.isWhole(in: found) ? Trims() : Trims(source: seen.filter, output: found.filter)
    }

    private struct Likeness {
        var marks: [VerificationReport.Mark] = []
        /// By index of a mark at a join: how like the source's picture is to the one before it.
        var continuity: [Int: Double] = [:]
        var neighbours = NeighbourSearch()
        /// The source's pictures come in another order than their times.
        var isDisordered = false
        var sourceDamage = 0
        var outputDamage = 0
        var sourceCaptions = 0
        var outputCaptions = 0
    }

    /// Filters that turn the source's pixels, where the output's were turned instead of being marked.
    private static func turn(_ source: Track, _ output: Track) -> String {
        guard source.transform != output.transform, output.rotation == 0, let matrix = source.transform,
            let orientation = Orientation(matrix: matrix)
        else { return "" }
        let isWide = source.format.width > source.format.height
        let looksTurned = orientation.exchangesAxes && isWide != (output.format.width > output.format.height)
        return looksTurned ? orientation.filter : ""
    }

    private func measure(
        _ source: TrackScan, _ output: TrackScan, shift: CommonShift, joins: [Double], trims: Trims,
        pairsByOrder: Bool
    ) throws(Failure) -> Likeness {
        let left = try PictureReader(
            location: sourceLocation, track: source.track.index, threads: 2, interrupt: interrupt)
        let right = try PictureReader(
            location: outputLocation, track: output.track.index, threads: 2, interrupt: interrupt)
        let clock = shift.clock
        let tolerance = max(clock.tolerance(source.track.timeBase, output.track.timeBase), clock.rate / 1000)
        let distance = PictureDistance(
            source: [trims.source, Self.turn(source.track, output.track)], output: [trims.output])
        var likeness = Likeness()
        var wanted = try left.next()
        var found = try right.next()
        var before: (source: Frame, output: Frame)?
        var ahead = joins[...]
        while let first = wanted, let second = found {
            let time = clock.units(second.pts ?? 0, in: second.timeBase)
            let goal = pairsByOrder ? time : clock.units(first.pts ?? 0, in: first.timeBase) + shift.units
            if let last = before?.source.pts, let now = first.pts, now < last { likeness.isDisordered = true }
            if abs(time - goal) <= tolerance {
                let seconds = clock.seconds(time)
                do {
                    if let value = try distance.likeness(first, second) {
                        if let join = ahead.first, join <= seconds + 0.0005 {
                            likeness.continuity[likeness.marks.count] = try before.flatMap {
                                (before) throws(MediaError) in
                                try distance.continuity(before.source, first)
                            }
                        }
                        let mark = VerificationReport.Mark(
                            seconds: seconds, decibels: value.decibels, similarity: value.similarity)
                        // What is as like the source as this is no neighbour of the right picture.
                        if let before, value.decibels < NeighbourSearch.doubt {
                            likeness.neighbours.add(
                                mark, previous: try distance.likeness(before.source, second)?.decibels,
                                following: try distance.likeness(first, before.output)?.decibels,
                                last: likeness.marks.last)
                        }
                        likeness.marks.append(mark)
                    }
                } catch {
                    throw Failure(error, role: .output)
                }
                while let join = ahead.first, join <= seconds + 0.0005 { ahead.removeFirst() }
                if first.attachmentKinds.contains(.captions) {
                    likeness.sourceCaptions += 1
                    if second.attachmentKinds.contains(.captions) { likeness.outputCaptions += 1 }
                }
                before = (first, second)
            }
            if goal <= time + tolerance { wanted = try left.next() }
            if time <= goal + tolerance { found = try right.next() }
        }
        (likeness.sourceDamage, likeness.outputDamage) = (left.damage, right.damage)
        return likeness
    }

    /// Where segments may have been joined, in seconds of the output: at the source's plan and at the output's keyframes.
    private func joinTimes(_ source: TrackScan, _ output: TrackScan, shift: CommonShift) throws(Failure) -> [Double] {
        let clock = shift.clock
        var joins: [Double] = []
        let index = try SourceIndexer(
            location: sourceLocation, track: source.track, target: SegmentPlan.defaultTarget, interrupt: interrupt
        ).makeIndex()
        if let plan = try? SegmentPlan.make(index: index.keyframes) {
            joins += plan.segments.dropFirst().map {
                clock.seconds(clock.units($0.start, in: plan.timeBase) + shift.units)
            }
        }
        // Where every picture is a keyframe they say nothing of joins.
        if output.syncs.count * 4 < output.times.count {
            joins += output.syncs.dropFirst().map { clock.seconds(clock.units($0, in: output.track.timeBase)) }
        }
        return joins.sorted()
    }
}
