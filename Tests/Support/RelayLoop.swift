import Foundation

/// The relay's thread: all connections in one poll.
final class RelayLoop {
    private final class Connection {
        var pipes: [RelayPipe]
        var isOver = false

        init(client: Int32, server: Int32) {
            pipes = [
                RelayPipe(.toServer, from: client, to: server), RelayPipe(.toClient, from: server, to: client),
            ]
        }

        func close() { for pipe in pipes { Foundation.close(pipe.from) } }
        func reset() { for pipe in pipes { RelaySocket.reset(pipe.from) } }
    }

    private let listener: Int32
    private let target: SocketAddress
    private let withState: ((inout TCPRelay.State) -> Void) -> Void
    private var random: SeededRandom
    private var connections: [Connection] = []
    private var resets = 0
    private var state = TCPRelay.State()

    init(
        listener: Int32, target: SocketAddress, seed: UInt64,
        withState: @escaping ((inout TCPRelay.State) -> Void) -> Void
    ) {
        self.listener = listener
        self.target = target
        self.withState = withState
        random = SeededRandom(seed: seed)
    }

    func run() {
        while true {
            withState { state = $0 }
            if state.isStopping { break }
            if state.resets != resets {
                resets = state.resets
                for connection in connections { connection.reset() }
                connections = []
            }
            turn()
        }
        for connection in connections { connection.close() }
        close(listener)
    }

    private func turn() {
        let now = Self.seconds
        let conditions = state.conditions
        var items = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        // New conditions are seen within this time.
        var patience = 0.05
        for connection in connections {
            for pipe in connection.pipes {
                let events = pipe.wants(conditions, now: now, patience: &patience)
                items.append(pollfd(fd: pipe.from, events: events.reading ? Int16(POLLIN) : 0, revents: 0))
                items.append(pollfd(fd: pipe.to, events: events.writing ? Int16(POLLOUT) : 0, revents: 0))
            }
        }
        // A descriptor without wishes still reports errors, at once and again and again: leave it out.
        for index in items.indices where items[index].events == 0 { items[index].fd = -1 }
        guard poll(&items, nfds_t(items.count), Int32(patience * 1000) + 1) >= 0 else { return }
        let count = connections.count
        if items[0].revents != 0 { acceptAll() }
        for (place, connection) in connections.prefix(count).enumerated() {
            for (way, pipe) in connection.pipes.enumerated() {
                let at = 1 + place * 4 + way * 2
                if items[at].revents != 0 { read(pipe, connection, conditions) }
                if items[at + 1].revents != 0 {
                    connection.isOver = !pipe.write(conditions, now: Self.seconds) || connection.isOver
                }
                if pipe.isDrained { connection.isOver = true }
            }
        }
        for connection in connections where connection.isOver { connection.close() }
        connections.removeAll(where: \.isOver)
    }

    private func read(_ pipe: RelayPipe, _ connection: Connection, _ conditions: TCPRelay.Conditions) {
        let (bytes, altered) = pipe.read(conditions, now: Self.seconds, random: &random)
        withState { state in
            state.tally.bytes += bytes
            state.tally.alteredBytes += altered
        }
    }

    private func acceptAll() {
        while let client = RelaySocket.accept(from: listener) {
            guard let server = RelaySocket.connect(to: target) else {
                RelaySocket.reset(client)
                continue
            }
            connections.append(Connection(client: client, server: server))
            withState { $0.tally.connections += 1 }
        }
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
