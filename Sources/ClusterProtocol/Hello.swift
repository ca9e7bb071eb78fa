/// The first message of every node and slot, and the answer to `identify`.
package struct Hello: MessageBody {
    package enum Role: String, Hashable, Sendable, Codable {
        /// A supervisor: takes no lease, answers for its slots.
        case node
        /// Runs one lease at a time.
        case slot
    }

    package static let type = "hello"
    package var role: Role
    /// The node's name, unique in the cluster.
    package var node: String
    /// Number of the slot in its node; -1 for the node itself.
    package var slot: Int
    /// Unique for each start of the process: a new one says that the old one, and its lease, are gone.
    package var incarnation: String
    package var pid: Int32
    package var host: String
    /// Version of weft, for people.
    package var version: String
    /// Envelope versions that the peer speaks.
    package var protocols: [Int]
    package var encoders: [EncoderOffer]
    package var cores: Int
    /// Bytes of memory of the machine.
    package var memory: Int64
    /// Encoder threads that the slot may use.
    package var threads: Int
    /// How the process that held this slot before ended.
    package var predecessor: ProcessEnd?
    /// The lease that is still being encoded, or whose result was not yet accepted, when the coordinator went away.
    package var resume: LeaseName?
    /// The slot can work from samples that the coordinator streams to it.
    @FalseWhenAbsent package var streams: Bool

    package init(
        role: Role, node: String, slot: Int, incarnation: String, pid: Int32, host: String, version: String,
        protocols: [Int] = [ProtocolLimits.version], encoders: [EncoderOffer] = [], cores: Int, memory: Int64,
        threads: Int, predecessor: ProcessEnd? = nil, resume: LeaseName? = nil, streams: Bool = false
    ) {
        self.role = role
        self.node = node
        self.slot = slot
        self.incarnation = incarnation
        self.pid = pid
        self.host = host
        self.version = version
        self.protocols = protocols
        self.encoders = encoders
        self.cores = cores
        self.memory = memory
        self.threads = threads
        self.predecessor = predecessor
        self.resume = resume
        self.streams = streams
    }

    package func check(payload: [Int]) throws(ProtocolError) {
        try PayloadShape.none(payload, Self.type)
        try Bounds.name(node, "node")
        try Bounds.number(slot, "slot", in: -1...ProtocolLimits.cores)
        guard (slot >= 0) == (role == .slot) else { throw .malformed("A slot has a number and a node has none.") }
        try Bounds.name(incarnation, "incarnation")
        try Bounds.number(pid, "pid", in: 0...Int32.max)
        try Bounds.name(host, "host")
        try Bounds.name(version, "version")
        try Bounds.count(protocols.count, "protocols", atMost: 64)
        guard protocols.contains(ProtocolLimits.version) else {
            throw ProtocolError(
                .version(protocols.max() ?? 0),
                "The peer does not speak protocol version \(ProtocolLimits.version).")
        }
        try Bounds.count(encoders.count, "encoders", atMost: ProtocolLimits.encoders)
        for encoder in encoders { try encoder.check() }
        try Bounds.number(cores, "cores", in: 0...ProtocolLimits.cores)
        try Bounds.number(memory, "memory", in: 0...Int64.max)
        try Bounds.number(threads, "threads", in: 0...ProtocolLimits.cores)
        try predecessor?.check()
    }
}

/// One encoder that a node can use.
package struct EncoderOffer: Hashable, Sendable, Codable {
    /// libavcodec's name of it.
    package var name: String
    package var hardware: Bool

    package init(name: String, hardware: Bool = false) {
        self.name = name
        self.hardware = hardware
    }

    func check() throws(ProtocolError) { try Bounds.name(name, "encoders.name") }
}

/// How a child process ended, as its supervisor saw it.
package struct ProcessEnd: Hashable, Sendable, Codable {
    package enum Cause: String, Hashable, Sendable, Codable {
        /// It exited; `code` is its status.
        case exited
        /// A signal ended it; `code` is the signal.
        case signalled
        /// It made no progress and its supervisor killed it.
        case stalled
        /// It could not be started; `code` is the errno.
        case unstarted
    }

    package var incarnation: String
    package var cause: Cause
    package var code: Int32
    /// The lease that it held, where the supervisor knows.
    package var lease: LeaseName?
    /// The last lines that it wrote, oldest first.
    package var log: [String]

    package init(incarnation: String, cause: Cause, code: Int32, lease: LeaseName? = nil, log: [String] = []) {
        self.incarnation = incarnation
        self.cause = cause
        self.code = code
        self.lease = lease
        self.log = log.clipped(to: ProtocolLimits.logLines)
    }

    func check() throws(ProtocolError) {
        try Bounds.name(incarnation, "predecessor.incarnation")
        try Bounds.texts(log, "predecessor.log", atMost: ProtocolLimits.logLines)
    }
}
