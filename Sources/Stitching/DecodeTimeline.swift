package import ClusterProtocol

/// Regenerates decode times for a whole track from its presentation times.
///
/// Segments come from encoders that each start anew, so their own decode times each begin with the reorder delay. Here the
/// delay is paid once: sample *n* in decode order is given the *(n − depth)*-th presentation time in sorted order, which
/// rises strictly and never lies above the sample's own presentation time as long as no sample is decoded more than `depth`
/// places before its turn (the model of ISO/IEC 14496-10 §C.4.5.3, bumping with num_reorder_frames).
package struct DecodeTimeline: Sendable {
    /// Places by which decode order runs ahead of presentation order, for the whole track.
    package let depth: Int
    /// The last `depth` presentation times in sorted order, not yet used as decode times.
    private var pending: [Int64] = []
    private var isFirst = true
    private var lastDecodeTime: Int64?

    package init(depth: Int) { self.depth = depth }

    /// - Parameter presentationTimes: one segment's, in decode order. Every one lies above all those of earlier segments.
    /// - Returns: the decode times, in the same order and unit.
    package mutating func decodeTimes(for presentationTimes: [Int64]) throws(Failure) -> [Int64] {
        guard !presentationTimes.isEmpty else { return [] }
        let sorted = presentationTimes.sorted()
        if isFirst {
            isFirst = false
            // The times before the first picture step back by the shortest frame's length, so that one long first frame does
            // not delay the whole track.
            let steps = zip(sorted, sorted.dropFirst()).map { $1.subtractingReportingOverflow($0) }
            let step = steps.filter { !$0.overflow && $0.partialValue > 0 }.map(\.partialValue).min() ?? 1
            let reach = step.multipliedReportingOverflow(by: Int64(depth))
            guard !reach.overflow, !sorted[0].subtractingReportingOverflow(reach.partialValue).overflow else {
                throw Failure(.timing, "The picture's first time, tick \(sorted[0]), is out of range.")
            }
            pending = (0..<depth).map { sorted[0] - Int64(depth - $0) * step }
        }
        let times = Array((pending + sorted).prefix(sorted.count))
        pending = Array((pending + sorted).suffix(depth))
        for (decode, presentation) in zip(times, presentationTimes) where decode > presentation {
            throw ReorderDepthExceeded.failure(depth: depth, at: presentation)
        }
        if let lastDecodeTime, let first = times.first, first <= lastDecodeTime {
            throw Failure(
                .timing, "Presentation times do not rise across a join (at tick \(first)).",
                advice: "Report this source; `weft plan --json` shows where it is split.", fault: .source)
        }
        lastDecodeTime = times.last
        return times
    }

    /// The reorder depth that a run of presentation times in decode order needs: the most samples that precede one in decode
    /// order and follow it in presentation order.
    package static func depth(of presentationTimes: [Int64]) -> Int {
        // A sample's displacement: decode position minus position in sorted order, as far as it is late.
        let order = presentationTimes.indices.sorted { presentationTimes[$0] < presentationTimes[$1] }
        var depth = 0
        for (sortedPosition, decodePosition) in order.enumerated() {
            depth = max(depth, decodePosition - sortedPosition)
        }
        return depth
    }
}

/// Told apart from other failures so that the stitch can be written once more with the depth that is needed.
package enum ReorderDepthExceeded {
    package static let code: Int32 = 0x5244  // 'RD'

    static func failure(depth: Int, at presentation: Int64) -> Failure {
        Failure(
            .timing, "A sample at tick \(presentation) is reordered by more than \(depth) places.",
            advice: "Report this source and encoder.", fault: .worker, code: code)
    }
}
