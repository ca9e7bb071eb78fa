internal import ClusterProtocol
internal import Foundation

/// What a slot is told by the supervisor that starts it.
struct SlotRequest: Hashable, Sendable {
    var endpoint: String
    /// Number of the slot on its node, from 0.
    var index: Int
    /// `nil` for the host's name.
    var node: String?
    /// Rises with every process of the slot; `nil` for the time of day.
    var incarnation: String?
    /// Encoder threads that it may use.
    var threads = 1
    /// The key to show the coordinator.
    var keyFile: String?
    /// The coordinator is the process that started it.
    var isPrivate = false
}

/// `weft slot`, started by a node's supervisor only: one child process that runs one lease at a time.
enum SlotCommand {
    static let entry = CommandEntry(
        name: "slot",
        summary: "Run one slot (started by weft itself)",
        details: "Connects to a coordinator and encodes the segments it is leased, one at a time.",
        options: [
            OptionEntry(name: "connect", value: "URL", help: "The coordinator's endpoint.", isSetting: false),
            OptionEntry(name: "index", value: "N", help: "Number of the slot on its node.", isSetting: false),
            OptionEntry(name: "node", value: "NAME", help: "Name of the node.", isSetting: false),
            OptionEntry(name: "incarnation", value: "N", help: "Number of this process.", isSetting: false),
            OptionEntry(name: "threads", value: "N", help: "Encoder threads that it may use.", isSetting: false),
            OptionEntry(name: "key", value: "FILE", help: "The key to show the coordinator.", isSetting: false),
            OptionEntry(name: "private", help: "The coordinator is the process that starts it.", isSetting: false),
        ],
        examples: [.init(line: "weft slot --connect ipc:///run/weft/slots --index 0", meaning: "the first slot")],
        isHidden: true,
        run: { invocation in
            // A terminal, a service manager or a batch system signals every process at once. The supervisor decides what
            // becomes of a lease; when it is gone, standard input closes, and the slot ends.
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
            return try await SlotEngine.run(SlotRequest(invocation))
        })
}

extension SlotRequest {
    init(_ invocation: Invocation) throws {
        guard let endpoint = invocation.value(of: "connect"), !endpoint.isEmpty else {
            throw UsageError("slot", "--connect is missing.")
        }
        guard let index = Quantity.count(invocation.value(of: "index") ?? "0", in: 0...65_535) else {
            throw UsageError("slot", "--index is not a whole number from 0 to 65535.")
        }
        self.endpoint = endpoint
        self.index = index
        node = invocation.value(of: "node")
        incarnation = invocation.value(of: "incarnation")
        threads = Quantity.count(invocation.value(of: "threads") ?? "1", in: 1...65_535) ?? 1
        keyFile = invocation.value(of: "key")
        isPrivate = invocation.has("private")
    }
}
