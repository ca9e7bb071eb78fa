package import Media
internal import MediaTime
package import SegmentPlan

/// Finds where groups of pictures could be cut.
enum InnerCuts {
    /// Pictures between two places.
    private static let stride = 24
    /// Pictures are reordered by at most 16 places (Rec. ITU-T H.264 §A.3.1): so many more samples are between two decode times.
    private static let decodeStride = 48

    /// - Parameters:
    ///   - times: of the owned pictures, sorted.
    ///   - keyframes: in decode order.
    static func find(inShown times: [Int64], keyframes: [Keyframe], timeBase: TimeBase) -> [InnerCut] {
        let starts = keyframes.filter(\.kind.isUsable).map(\.pts)
        return cuts(times, starts: Set(starts), every: stride, timeBase)
    }

    /// - Parameter samples: decode times of the owned samples, and whether they are keyframes. Fewer pictures are shown before a
    ///   sample's decode time than samples are decoded before it, by no more than the reorder depth.
    static func find(inDecoded samples: [(time: Int64, isSync: Bool)], timeBase: TimeBase) -> [InnerCut] {
        cuts(samples.map(\.time), starts: Set(samples.filter(\.isSync).map(\.time)), every: decodeStride, timeBase)
    }

    private static func cuts(
        _ times: [Int64], starts: Set<Int64>, every stride: Int, _ timeBase: TimeBase
    ) -> [InnerCut] {
        let long = (try? MediaTime(value: 4, timescale: 1).ticks(in: timeBase)) ?? .max
        var result: [InnerCut] = []
        var group: [InnerCut] = []
        var first = 0
        func close(at end: Int64) {
            if let start = times.indices.contains(first) ? times[first] : nil, end &- start > long { result += group }
            group = []
        }
        for (number, time) in times.enumerated() {
            if number > 0, starts.contains(time) {
                close(at: time)
                first = number
            } else if number > first, (number - first) % stride == 0, group.last.map({ $0.time < time }) ?? true {
                group.append(InnerCut(time: time, pictures: number - first))
            }
        }
        if let last = times.last { close(at: last) }
        return result
    }
}

extension SourceIndex {
    /// - Parameter isTold: the container's index names every sample and not only keyframes.
    func addingInnerCuts(_ samples: [(time: Int64, isSync: Bool)], _ isTold: Bool) -> SourceIndex {
        guard isTold else { return self }
        var index = self
        index.keyframes.innerCuts = InnerCuts.find(inDecoded: samples, timeBase: keyframes.timeBase)
            .filter { $0.time > keyframes.start && $0.time < keyframes.end }
        return index
    }
}

extension CodingCost {
    /// - Parameter source: the whole file's bits are taken for the picture's; they nearly are.
    package init(source: Track, result: Picture, _ index: SourceIndex) {
        let tick = Double(source.timeBase.numerator) / Double(source.timeBase.denominator)
        let seconds = max(1, (Double(index.keyframes.end) - Double(index.keyframes.start)) * tick)
        self.init(
            source: Picture(coder: source.format.codecName, width: source.format.width, height: source.format.height),
            result: result,
            picturesPerSecond: index.keyframes.sampleCount.map { Double($0) / seconds }
                ?? source.averageFrameRate?.approximation ?? 25,
            bitRate: Double(index.bytesTotal) * 8 / seconds)
    }
}
