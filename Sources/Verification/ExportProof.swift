package import ClusterProtocol
package import Media
package import MediaTime
package import SourceAccess

/// The proof an export runs on its temporary file before it says "done": every source picture is in the output once, at its own
/// time, and every track that was to travel beside it is there and lasts as long. The output is demuxed, not decoded; memory
/// does not grow with its length.
///
/// A picture that was moved because the container cannot tell its time from its neighbour's is expected where it was moved to.
/// Where every expected time is a whole number of the output's ticks, it has to be there exactly; elsewhere it may be off by half a
/// tick, which is what rounding costs.
package struct ExportProof {
    private let output: String
    private let timeBase: TimeBase
    private let origin: MediaTime
    private let shift: MediaTime
    private let slack: MediaTime
    private let moves: [Int64: [Int64]]
    private let isCopy: Bool
    private let carried: [CarriedTally]
    private let marks: PromisedMarks?
    private let interrupt: InterruptFlag

    /// - Parameters:
    ///   - output: the file to prove.
    ///   - timeBase: unit of the expected times: the source track's.
    ///   - origin: source time that is zero in the output.
    ///   - shift: added to every output time, where the container holds nothing negative.
    ///   - slack: by how much the container may have moved all pictures together.
    ///   - moves: by how many ticks of the output single pictures were moved, knowingly, because the container cannot tell their times
    ///     from their neighbours'; by their expected time, one number for each picture that has it. There they have to be, and all others at their own.
    ///   - isCopy: the picture's samples are the source's own, which may begin without a keyframe.
    ///   - carried: what each track beside the picture promises, in the order of the file.
    ///   - marks: what is promised beside the tracks.
    package init(
        output: String, timeBase: TimeBase, origin: MediaTime, shift: MediaTime, slack: MediaTime = .zero,
        moves: [Int64: [Int64]] = [:], isCopy: Bool = false, carried: [CarriedTally] = [], marks: PromisedMarks? = nil,
        interrupt: InterruptFlag = InterruptFlag()
    ) {
        self.output = output
        self.timeBase = timeBase
        self.origin = origin
        self.shift = shift
        self.slack = slack
        self.moves = moves
        self.isCopy = isCopy
        self.carried = carried
        self.marks = marks
        self.interrupt = interrupt
    }

    /// What the proof found.
    package struct Verdict: Sendable {
        package var proof: JobReport.Proof
        /// Why it does not pass, one sentence each; empty where it does.
        package var complaints: [String]
    }

    /// - Parameters:
    ///   - segmentCount: number of segments.
    ///   - expected: the times of a segment's pictures in source ticks, sorted; called once for each segment, in order.
    /// - Throws: where the output cannot be read, or what `expected` throws.
    package func verdict(
        segmentCount: Int, expected: (Int) throws -> [Int64]
    ) throws(Failure) -> Verdict {
        do {
            // A header lists the tracks; only a transport stream has to be probed for them.
            var demuxer = try Demuxer(location: output, interrupt: interrupt, probe: .header)
            if demuxer.tracks.isEmpty { demuxer = try Demuxer(location: output, interrupt: interrupt) }
            let track = try PictureTrack.find(in: demuxer.tracks, of: output)
            var verdict = try compare(demuxer, track, segmentCount: segmentCount, expected: expected)
            verdict.proof.lacking = marks?.lacking(in: demuxer) ?? []
            return verdict
        } catch let failure as Failure {
            throw failure
        } catch let error as MediaError {
            throw Failure(error, role: .output)
        } catch {
            throw Failure(.finalization, "\(output) could not be proved: \(error)", fault: .environment)
        }
    }

    private func compare(
        _ demuxer: Demuxer, _ track: Track, segmentCount: Int, expected: (Int) throws -> [Int64]
    ) throws -> Verdict {
        let clock = try CommonClock([timeBase, track.timeBase], [origin, shift, slack])
        let offset = clock.units(shift) - clock.units(origin)
        let tick = clock.tick(of: track.timeBase)
        let isWhole = clock.tick(of: timeBase) % tick == 0 && offset % tick == 0
        var comparison = TimelineComparison(
            tolerance: (isWhole ? 0 : (tick + 1) / 2) + clock.units(slack), reach: clock.rate / 2)
        var segment = 0
        var times: ArraySlice<Int64> = []
        var largestMove: Int128 = 0
        var before: (time: Int64, number: Int)?
        func next() throws -> Int128? {
            while times.isEmpty {
                guard segment < segmentCount else { return nil }
                times = try expected(segment)[...]
                segment += 1
            }
            return times.popFirst().map { time in
                let number = before.map { $0.time == time ? $0.number + 1 : 0 } ?? 0
                before = (time, number)
                let known = moves[time] ?? []
                let move = Int128(number < known.count ? known[number] : 0) * tick
                largestMove = max(largestMove, move)
                return clock.units(time, in: timeBase) + offset + move
            }
        }

        let access = ContainerAccess(demuxer.containerName)
        // Weft writes one time line: only the container's own wrap is undone, so that a jump is seen as what it is.
        var unroller = WrapUnroller(timeBase: track.timeBase, isEnabled: access.isDiscontinuous)
        var order = DecodeOrderCheck(isStored: !demuxer.isMatroska)
        var window = PresentationWindow()
        var untimed = 0
        var visibility = SampleVisibility()
        var others = CarriedTracksCheck(
            carried, in: demuxer.tracks, film: track.index, shift: shift, isTransportStream: access.isDiscontinuous)
        demuxer.select(tracks: Set([track.index] + others.tracks))
        while let sample = try demuxer.readSample() {
            guard sample.track == track.index else {
                others.add(sample)
                continue
            }
            let times = unroller.times(dts: sample.dts, pts: sample.pts)
            order.add(
                sample.retimed(pts: times.pts, dts: times.dts, duration: sample.duration, timeBase: sample.timeBase))
            guard visibility.isShown(sample), !sample.isDiscarded else { continue }
            guard let pts = times.pts else {
                untimed += 1
                continue
            }
            if let time = window.add(clock.units(pts, in: track.timeBase)) {
                try comparison.take(time, next: next)
            }
        }
        for time in window.drain() { try comparison.take(time, next: next) }
        try comparison.finish(next: next)

        var complaints = order.complaints(startsAnywhere: isCopy)
        if untimed > 0 { complaints.append("\(untimed) samples of the output have no presentation time.") }
        let tracks = others.verdict()
        var verdict = verdict(comparison, clock, untimed: untimed, complaints: complaints + tracks.complaints)
        verdict.proof.tracks = tracks.tracks
        verdict.proof.maxPTSError = max(verdict.proof.maxPTSError, clock.seconds(largestMove))
        return verdict
    }

    private func verdict(
        _ comparison: TimelineComparison, _ clock: CommonClock, untimed: Int, complaints: [String]
    ) -> Verdict {
        var complaints = complaints
        func say(_ tally: TimelineComparison.Tally, _ what: String) {
            guard tally.count > 0 else { return }
            let places = tally.examples.map { Seconds.text(clock.seconds($0)) }.joined(separator: ", ")
            complaints.append("\(tally.count) pictures \(what), first at \(places) of the output.")
        }
        say(comparison.missing, "are missing")
        say(comparison.surplus, "are there twice or belong nowhere")
        say(comparison.moved, "have a wrong time")
        var proof = JobReport.Proof(
            pass: complaints.isEmpty, sourceFrames: comparison.expected, outputFrames: comparison.found + untimed,
            missing: comparison.missing.count, duplicated: comparison.surplus.count,
            maxPTSError: clock.seconds(comparison.largestError))
        proof.complaints = complaints
        return Verdict(proof: proof, complaints: complaints)
    }
}
