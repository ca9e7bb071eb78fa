import ClusterProtocol
import Scheduling

/// A cluster, its work and its bad luck, all from one seed.
struct Scenario {
    struct NodeModel {
        var name: String
        var slots: Int
        /// Weight a second of one slot.
        var speed: Double
        /// Every attempt fails: a broken driver.
        var fails = false
        var encoders: Set<String> = ["libx264"]
    }

    /// Probabilities per lease, unless said otherwise.
    struct Faults {
        var failure = 0.0
        var death = 0.0
        var hang = 0.0
        var slowdown = 0.0
        var corruption = 0.0
        var alteration = 0.0
        var storeFailure = 0.0
        /// Per message.
        var duplicate = 0.0
        var late = 0.0
        /// In the whole run.
        var partitions = 0
        var restarts = 0
        var operatorMoves = 0

        static let none = Faults()

        static let all = Faults(
            failure: 0.02, death: 0.02, hang: 0.01, slowdown: 0.02, corruption: 0.01, alteration: 0.01,
            storeFailure: 0.003, duplicate: 0.05, late: 0.02, partitions: 6, restarts: 3, operatorMoves: 6)
    }

    struct Place: Hashable {
        var job: JobID
        var segment: Int
    }

    var seed: UInt64
    var nodes: [NodeModel]
    var jobs: [(at: Double, spec: JobSpec)]
    var faults = Faults.none
    /// Fail everywhere.
    var poisoned: Set<Place> = []
    /// Kill every slot that takes them.
    var killers: Set<Place> = []
    /// Encode times vary by this share.
    var noise = 0.05
    var reportsProgress = true

    /// Seconds that the work takes at the least, if it divided like a fluid.
    var lowerBound: Double {
        let work = jobs.flatMap(\.spec.segments).reduce(0) { $0 + $1.weight }
        return work / nodes.filter { !$0.fails }.reduce(0) { $0 + $1.speed * Double($1.slots) }
    }

    /// Segments around ten seconds, as a plan over whole GOPs gives them.
    static func job(
        _ id: String, segments: Int, priority: Int = 0, encoder: String = "libx264", random: inout SeededRandom
    ) -> JobSpec {
        let segments = (0..<segments).map { _ in SegmentSpec(weight: random.within(8...12), frames: 250) }
        return JobSpec(
            id: JobID(id), priority: priority, encoder: encoder, size: FrameSize(width: 1280, height: 720),
            segments: segments)
    }

    /// Nodes of mixed speed (a factor of four), eight slots each.
    static func mixedNodes(slots: Int, random: inout SeededRandom) -> [NodeModel] {
        (0..<max(slots / 8, 1)).map { number in
            NodeModel(name: "node\(number)", slots: min(slots, 8), speed: random.within(0.5...2))
        }
    }
}
