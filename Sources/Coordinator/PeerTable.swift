internal import Messaging
internal import Scheduling

/// The slots that are connected, found by connection, by worker and by place in constant time: a cluster of thousands of slots
/// comes back all at once after a restart.
struct PeerTable {
    /// A slot that says hello, and when it was last heard.
    struct Peer {
        var worker: WorkerID
        var heard: UInt64
        /// It can work from samples that are streamed to it.
        var streams: Bool
    }

    private var peers: [PeerIdentity: Peer] = [:]
    private var identities: [WorkerID: PeerIdentity] = [:]
    private var places: [SlotPlace: PeerIdentity] = [:]
    private var nodes: [String: Int] = [:]

    subscript(identity: PeerIdentity) -> Peer? { peers[identity] }
    subscript(worker: WorkerID) -> PeerIdentity? { identities[worker] }

    /// Connected workers.
    var count: Int { identities.count }

    func hasNode(_ node: String) -> Bool { nodes[node] != nil }

    var workers: some Sequence<(key: WorkerID, value: PeerIdentity)> { identities }

    /// Another connection of the same slot, whichever process is in it.
    func other(than identity: PeerIdentity, at worker: WorkerID) -> PeerIdentity? {
        let known = places[SlotPlace(worker)]
        return known == identity ? nil : known
    }

    /// Those not heard since then.
    func silent(since time: UInt64) -> [(identity: PeerIdentity, peer: Peer)] {
        peers.compactMap { $0.value.heard < time ? ($0.key, $0.value) : nil }
    }

    mutating func heard(_ identity: PeerIdentity, at time: UInt64) { peers[identity]?.heard = time }

    /// The connection of before in the same place is to be removed first.
    mutating func insert(_ worker: WorkerID, _ identity: PeerIdentity, heard: UInt64, streams: Bool) {
        remove(identity)
        peers[identity] = Peer(worker: worker, heard: heard, streams: streams)
        identities[worker] = identity
        places[SlotPlace(worker)] = identity
        nodes[worker.node, default: 0] += 1
    }

    @discardableResult
    mutating func remove(_ identity: PeerIdentity) -> Peer? {
        guard let peer = peers.removeValue(forKey: identity) else { return nil }
        let (worker, place) = (peer.worker, SlotPlace(peer.worker))
        if identities[worker] == identity { identities[worker] = nil }
        if places[place] == identity { places[place] = nil }
        if let rest = nodes[worker.node] { nodes[worker.node] = rest > 1 ? rest - 1 : nil }
        return peer
    }
}
