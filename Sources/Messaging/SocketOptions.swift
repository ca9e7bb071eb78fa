internal import CZeroMQ

/// Limits and intervals of an endpoint. The defaults suit the cluster protocol.
package struct SocketOptions: Sendable {
    /// Bytes of one received frame; a peer that sends more is disconnected before it is allocated (ZMQ_MAXMSGSIZE).
    /// 1 MiB of payload and what CURVE adds to it (ZeroMQ RFC 26: 33 bytes).
    package var maximumFrameBytes: Int64 = (1 << 20) + 4096
    /// Frames of one received message; longer messages are dropped and reported.
    package var maximumFrames = 512
    /// Messages that libzmq queues a peer.
    package var sendHighWater: Int32 = 1000
    package var receiveHighWater: Int32 = 1000
    /// How long unsent messages live after `stop`.
    package var linger: Duration = .milliseconds(500)
    /// tcp only: liveness of the connection itself, tended by libzmq's own thread. An end with many peers should ask seldom: libzmq
    /// looks through the timers of all connections of the thread for every answer (poller_base_t::cancel_timer).
    package var heartbeatInterval: Duration = .seconds(2)
    package var heartbeatTimeout: Duration = .seconds(10)
    /// How long a peer may take for the handshake.
    package var handshakeInterval: Duration = .seconds(10)
    package var reconnectInterval: Duration = .milliseconds(100)
    package var reconnectMaximum: Duration = .seconds(3)
    /// How long one attempt to connect may take. The kernel's own patience is two minutes, with ever longer pauses between its tries
    /// (tcp(7), tcp_syn_retries): a link that was down for a minute would stay unused for half a minute more.
    package var connectTimeout: Duration = .seconds(3)
    /// Connections that the kernel queues for a bound address.
    package var backlog: Int32 = 1024
    /// Bytes queued in the endpoint and not yet handed to libzmq: for all peers, and for one. Credit above keeps below it.
    package var maximumQueuedBytes = 512 << 20
    package var maximumPeerBytes = 64 << 20
    /// A dealer's own name at the router; empty for a name that the router makes up with every connection.
    package var identity: [UInt8] = []
    /// Report connections, disconnections and refused handshakes to the handler.
    package var reportsConnections = false

    package init() {}

    /// The options that must be set before the first address.
    func apply(to socket: borrowing Socket, type: SocketType) throws(MessagingError) {
        try socket.set(ZMQ_LINGER, linger.milliseconds, "ZMQ_LINGER")
        try socket.set(ZMQ_MAXMSGSIZE, maximumFrameBytes, "ZMQ_MAXMSGSIZE")
        try socket.set(ZMQ_SNDHWM, sendHighWater, "ZMQ_SNDHWM")
        try socket.set(ZMQ_RCVHWM, receiveHighWater, "ZMQ_RCVHWM")
        try socket.set(ZMQ_IPV6, Int32(1), "ZMQ_IPV6")
        try socket.set(ZMQ_BACKLOG, backlog, "ZMQ_BACKLOG")
        try socket.set(ZMQ_HANDSHAKE_IVL, handshakeInterval.milliseconds, "ZMQ_HANDSHAKE_IVL")
        try socket.set(ZMQ_RECONNECT_IVL, reconnectInterval.milliseconds, "ZMQ_RECONNECT_IVL")
        try socket.set(ZMQ_RECONNECT_IVL_MAX, reconnectMaximum.milliseconds, "ZMQ_RECONNECT_IVL_MAX")
        try socket.set(ZMQ_CONNECT_TIMEOUT, connectTimeout.milliseconds, "ZMQ_CONNECT_TIMEOUT")
        try socket.set(ZMQ_TCP_KEEPALIVE, Int32(1), "ZMQ_TCP_KEEPALIVE")
        switch type {
        case .router:
            // Without it a message to a peer that is gone vanishes without a word.
            try socket.set(ZMQ_ROUTER_MANDATORY, Int32(1), "ZMQ_ROUTER_MANDATORY")
            // A stranger must not take over the name of a connected peer.
            try socket.set(ZMQ_ROUTER_HANDOVER, Int32(0), "ZMQ_ROUTER_HANDOVER")
        case .dealer:
            if !identity.isEmpty { try socket.set(ZMQ_ROUTING_ID, identity, "ZMQ_ROUTING_ID") }
        case .pair: break
        }
    }

    /// The options that belong to one address; libzmq takes those in force at bind and connect.
    func applyLiveness(to socket: borrowing Socket, address: String) throws(MessagingError) {
        let isTCP = address.hasPrefix("tcp://")
        // Over ipc the kernel tells at once when a peer is gone, and a stopped process is its supervisor's affair.
        let interval = isTCP ? heartbeatInterval.milliseconds : 0
        try socket.set(ZMQ_HEARTBEAT_IVL, interval, "ZMQ_HEARTBEAT_IVL")
        try socket.set(ZMQ_HEARTBEAT_TIMEOUT, heartbeatTimeout.milliseconds, "ZMQ_HEARTBEAT_TIMEOUT")
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, as far as a C int goes.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? Int32.max : Int32(clamping: product + part)
    }
}
