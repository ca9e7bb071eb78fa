package import ClusterProtocol
package import Media
package import MediaTime

/// Writes the picture of one finished segment into a file of its own, which begins at zero.
package struct SegmentFile: Sendable {
    private let container: Container
    private let interrupt: InterruptFlag

    package init(_ container: Container, interrupt: InterruptFlag) {
        self.container = container
        self.interrupt = interrupt
    }

    /// - Parameters:
    ///   - timeBase: unit of the segment's times.
    ///   - end: where the segment ends, in ticks of `timeBase`.
    /// - Returns: bytes of the file.
    /// - Throws: exit code 64 where the container cannot hold the segment.
    package func write(
        _ segment: some SegmentContent, timeBase: TimeBase, end: Int64, to path: String
    ) throws(Failure) -> Int64 {
        try check(segment.format)
        do {
            return try write(segment, timeBase, end, scale: 1, to: path)
        } catch let failure as Failure where failure.code == IndexSpaceExceeded.code {
            do {
                return try write(segment, timeBase, end, scale: 4, to: path)
            } catch {
                throw Self.failure(error, container)
            }
        } catch {
            throw Self.failure(error, container)
        }
    }

    /// Matroska wants a decoder's parameter sets in its head (RFC 9559, CodecPrivate); those of a segment for MPEG-TS are in its samples.
    private func check(_ format: FormatDescription) throws(Failure) {
        guard container.canHold(codec: format.codecName) else {
            throw Failure(
                .format, "\(container) cannot hold \(format.codecName).",
                advice: "Choose another name: .mkv holds every codec, .mp4 and .mov most.", fault: .settings,
                exitCode: .usage)
        }
        guard container.isMatroska, format.inBandSampleEntry != nil, format.extradata.isEmpty else { return }
        throw Failure(
            .format, "This segment was made for MPEG-TS and cannot be put into \(container) as it is.",
            advice: "Choose a name that ends in .ts or .mp4.", fault: .settings, exitCode: .usage)
    }

    private func write(
        _ segment: some SegmentContent, _ timeBase: TimeBase, _ end: Int64, scale: Int, to path: String
    ) throws -> Int64 {
        let output = OutputContainer(container)
        let pictures = segment.presentationTimes
        guard let first = pictures.min() else {
            throw Failure(.format, "The segment has no pictures.", fault: .source, exitCode: .badSource)
        }
        let origin = try MediaTime(ticks: first, in: timeBase)
        let depth = DecodeTimeline.depth(of: pictures)
        let muxer = try Muxer(
            path: path, container: container,
            options: options(output, timeBase, pictures.count, from: first, to: end, scale: scale))
        let track = try muxer.addTrack(format: segment.format, timeBase: output.videoTimeBase(timeBase))
        try muxer.writeHeader()
        let unit = try muxer.timeBase(ofTrack: track)
        var shift = MediaTime.zero
        if output.storesDecodeTimes, !output.holdsNegativeTimes,
            let begin = try PictureTimes.firstDecodeTime(of: pictures, in: timeBase, origin: origin, depth: depth)
        {
            shift = try MediaTime(ticks: begin.negated().ticks(in: unit, rounding: .up), in: unit)
        }
        var times = try PictureTimes(source: timeBase, unit: unit, origin: origin, shift: shift, depth: depth)
        let placed = try times.place(pictures, until: end)
        for index in 0..<segment.count {
            if interrupt.isInterrupted { throw Failure.stoppedExtract }
            let sample = try segment.sample(
                index, pts: placed.presentation[index], dts: placed.decode[index], duration: placed.durations[index],
                timeBase: unit)
            // A transport stream has no head for them.
            let carried = index == 0 && !output.usesGlobalHeader ? try sample.carryingParameterSets() : sample
            try muxer.write(carried, track: track)
        }
        do {
            return try muxer.finish()
        } catch {
            throw error.isIndexSpaceTooSmall ? IndexSpaceExceeded.failure() : error
        }
    }

    private func options(
        _ output: OutputContainer, _ timeBase: TimeBase, _ count: Int, from start: Int64, to end: Int64, scale: Int
    ) -> [String: String] {
        let seconds = Double(end &- start) * Double(timeBase.numerator) / Double(timeBase.denominator)
        var options = output.options(timeBase: timeBase, frames: count, seconds: seconds, indexScale: scale)
        options["avoid_negative_ts"] = "disabled"
        return options
    }

    private static func failure(_ error: any Error, _ container: Container) -> Failure {
        switch error {
        case let error as MediaError: Failure(error, role: .output)
        case let failure as Failure: failure
        default: Failure(.timing, "A time of the segment does not fit \(container): \(error).")
        }
    }
}

extension Failure {
    /// The user asked to stop while one segment was written to a file.
    package static let stoppedExtract = Failure(
        .cancelled, "Stopped as asked; nothing was written.", retry: .retry, fault: .environment,
        exitCode: .interrupted)
}
