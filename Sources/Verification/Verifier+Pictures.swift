internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess

/// The pictures themselves: both films are decoded side by side.
extension Verifier {
    func comparePictures(
        _ source: TrackScan, _ output: TrackScan, shift: CommonShift, judge: inout Judge
    ) throws(Failure) {
        let likeness = try measure(source, output, shift: shift)
        let track = source.track.index
        guard !likeness.marks.isEmpty else {
            return judge.find(
                .picture, track: track, "No picture of the output could be compared with one of the source.")
        }
        let values = likeness.marks.map(\.decibels)
        judge.likeness(
            pictures: values.count, lowest: values.min(), mean: values.reduce(0, +) / Double(values.count))
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
        let joins = try joinTimes(source, output, shift: shift)
        for seam in SeamSearch(marks: likeness.marks, joins: joins).findings {
            judge.find(seam.kind, track: track, seam.detail)
        }
    }

    private struct Likeness {
        /// Output time in seconds and likeness.
        var marks: [SeamSearch.Mark] = []
        var sourceDamage = 0
        var outputDamage = 0
        var sourceCaptions = 0
        var outputCaptions = 0
    }

    private func measure(_ source: TrackScan, _ output: TrackScan, shift: CommonShift) throws(Failure) -> Likeness {
        let left = try PictureReader(
            location: sourceLocation, track: source.track.index, threads: 2, interrupt: interrupt)
        let right = try PictureReader(
            location: outputLocation, track: output.track.index, threads: 2, interrupt: interrupt)
        let clock = shift.clock
        let tolerance = max(clock.tolerance(source.track.timeBase, output.track.timeBase), clock.rate / 1000)
        let distance = PictureDistance()
        var likeness = Likeness()
        func take(_ reader: PictureReader, _ captions: inout Int) throws(Failure) -> Frame? {
            let frame = try reader.next()
            if frame?.attachmentKinds.contains(.captions) ?? false { captions += 1 }
            return frame
        }
        var wanted = try take(left, &likeness.sourceCaptions)
        var found = try take(right, &likeness.outputCaptions)
        while let first = wanted, let second = found {
            let goal = clock.units(first.pts ?? 0, in: first.timeBase) + shift.units
            let time = clock.units(second.pts ?? 0, in: second.timeBase)
            if abs(time - goal) <= tolerance {
                do {
                    if let decibels = try distance.decibels(first, second) {
                        likeness.marks.append(.init(seconds: clock.seconds(time), decibels: decibels))
                    }
                } catch {
                    throw Failure(error, role: .output)
                }
            }
            if goal <= time + tolerance { wanted = try take(left, &likeness.sourceCaptions) }
            if time <= goal + tolerance { found = try take(right, &likeness.outputCaptions) }
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
