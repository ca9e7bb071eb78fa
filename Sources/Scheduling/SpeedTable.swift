/// The mean speed of each class of work (encoder and frame size), and the moving average that all speeds are learned by.
struct SpeedTable: Sendable {
    struct Class: Hashable, Sendable {
        let encoder: Int
        let size: FrameSize
    }

    /// Share of the newest observation: recent enough to follow a machine that others begin to use, slow enough to sit
    /// out one odd segment.
    static let newestShare = 0.25

    private var places: [Class: Int] = [:]
    private(set) var means: [Double?] = []

    mutating func place(of class: Class) -> Int {
        if let place = places[`class`] { return place }
        places[`class`] = means.count
        means.append(nil)
        return means.count - 1
    }

    /// Updates the mean over everybody, and returns the node's new average.
    mutating func learn(_ observed: Double, class place: Int, nodeAverage: Double?) -> Double {
        means[place] = Self.average(means[place], observed, share: 0.05)
        return Self.average(nodeAverage, observed, share: Self.newestShare)
    }

    private static func average(_ old: Double?, _ new: Double, share: Double) -> Double {
        guard let old else { return new }
        return old + (new - old) * share
    }
}

extension Scheduler {
    /// Weight a second that one slot of the node is expected to do; `nil` while nobody has done such work.
    func speed(of node: Int, class place: Int) -> Double? { nodes[node].speeds[place] ?? speeds.means[place] }

    /// Learns from an attempt that gave a whole result.
    mutating func learnSpeed(_ lease: Lease) {
        let elapsed = (now - lease.granted).seconds
        guard elapsed > 0 else { return }
        let place = jobs[lease.job].speedClass
        let observed = jobs[lease.job].segments[lease.segment].weight / elapsed
        let average = speeds.learn(observed, class: place, nodeAverage: nodes[lease.node].speeds[place])
        nodes[lease.node].speeds[place] = average
        if let mean = speeds.means[place], mean > 0 { nodes[lease.node].relativeSpeed = average / mean }
    }
}
