import Foundation
import Synchronization
import Testing

@testable import Messaging

@Suite(.serialized, .timeLimit(.minutes(2))) struct EndpointTests {
    let context: MessageContext
    let directory: IPCDirectory
    let routed = Journal()
    let dealt = Journal()

    init() throws {
        context = try MessageContext()
        directory = try IPCDirectory()
    }

    /// A router that sends every message back.
    func echo(
        at address: String? = nil, context: MessageContext? = nil, options: SocketOptions = SocketOptions(),
        tick: Duration? = nil
    ) throws -> RouterEndpoint<Recorder> {
        let routed = routed
        return try RouterEndpoint(
            context: context ?? self.context, bindings: [Binding(try address ?? directory.address("router"))],
            options: options,
            tick: tick
        ) { sender in
            Recorder(routed) { message in
                if let peer = message.peer { try? sender.send(message.frames, to: peer) }
            }
        }
    }

    func silentRouter(options: SocketOptions = SocketOptions()) throws -> RouterEndpoint<Recorder> {
        let routed = routed
        return try RouterEndpoint(
            context: context, bindings: [Binding(try directory.address("router"))], options: options
        ) { _ in Recorder(routed) }
    }

    func dealer(
        _ address: String, options: SocketOptions = SocketOptions()
    ) throws -> DealerEndpoint<Recorder> {
        let dealt = dealt
        return try DealerEndpoint(context: context, address: address, options: options) { _ in Recorder(dealt) }
    }

    @Test("A multipart message goes there and back, empty frames included", arguments: Transport.allCases)
    func roundTrip(transport: Transport) throws {
        guard transport.isAvailable else { return print("skipped: no \(transport) here") }
        let router = try echo(at: try transport.address(in: directory))
        let dealer = try dealer(router.addresses[0])
        let large = String(repeating: "x", count: 1 << 20)
        try dealer.send(frames("header", "", large))
        #expect(dealt.wait { $0.messages.count == 1 })
        #expect(dealt.now.messages.first?.texts == ["header", "", large])
        #expect(dealt.now.messages.first?.peer == nil)
        #expect(routed.now.messages.first?.peer != nil)
        #expect(routed.now.messages.first?.role == nil)
    }

    @Test("A dealer may start before its router, and finds it again after a restart")
    func reconnect() throws {
        let address = try directory.address("late")
        var options = SocketOptions()
        options.reconnectInterval = .milliseconds(10)
        options.reportsConnections = true
        let dealer = try dealer(address, options: options)
        try dealer.send(frames("early"))
        for (count, next) in [(1, "between"), (2, "later")] {
            // A context of its own: when it has ended the old listener is gone, with its file.
            let router = try echo(at: address, context: MessageContext())
            #expect(dealt.wait { $0.messages.count == count })
            router.stop()
            #expect(dealt.wait { $0.events.filter { $0.kind == .disconnected }.count == count })
            try dealer.send(frames(next))
        }
        #expect(dealt.now.messages.map(\.texts) == [["early"], ["between"]])
    }

    @Test("Bytes that are sent without a copy are released when they were sent, and arrive whole")
    func zeroCopy() throws {
        let released = Journal()
        final class Owner: Sendable {
            let bytes: Mutex<UnsafeMutableRawBufferPointer>
            let released: Journal
            init(_ released: Journal) {
                let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
                for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index &* 31) }
                bytes = Mutex(buffer)
                self.released = released
            }
            deinit {
                bytes.withLock { $0.deallocate() }
                released.addTick()
            }
        }
        let router = try silentRouter()
        let dealer = try dealer(router.addresses[0])
        do {
            let owner = Owner(released)
            let frame = owner.bytes.withLock { MessageFrame(keeping: owner, bytes: UnsafeRawBufferPointer($0)) }
            try dealer.send([frame])
        }
        #expect(routed.wait { $0.messages.count == 1 })
        #expect(released.wait { $0.ticks == 1 })
        let frame = try #require(routed.now.messages.first?.frames.first)
        let isWhole = frame.withUnsafeBytes { bytes in
            bytes.indices.allSatisfy { bytes[$0] == UInt8(truncatingIfNeeded: $0 &* 31) }
        }
        #expect(frame.count == 1 << 20)
        #expect(isWhole)
    }

    @Test("A message to a peer that is not there is reported as undeliverable")
    func unroutable() throws {
        let router = try silentRouter()
        try router.send(frames("hello"), to: PeerIdentity([1, 2, 3]))
        #expect(routed.wait { $0.failures.count == 1 })
        #expect(routed.now.failures.first?.code == .unroutable)
    }

    @Test("A message to a peer that went away is reported as undeliverable")
    func peerGone() throws {
        var options = SocketOptions()
        options.reportsConnections = true
        let router = try silentRouter(options: options)
        let dealer = try dealer(router.addresses[0])
        try dealer.send(frames("here"))
        #expect(routed.wait { $0.messages.count == 1 })
        let peer = try #require(routed.now.messages.first?.peer)
        dealer.stop()
        #expect(routed.wait { $0.events.contains { $0.kind == .disconnected } })
        try router.send(frames("gone?"), to: peer)
        #expect(routed.wait { $0.failures.count == 1 })
        #expect(routed.now.failures.first?.code == .unroutable)
    }

    @Test(
        "A frame above the limit never arrives and costs its sender the connection", arguments: [Transport.ipc, .tcp])
    func oversized(transport: Transport) throws {
        var options = SocketOptions()
        options.maximumFrameBytes = 1000
        options.reportsConnections = true
        let router = try echo(at: try transport.address(in: directory), options: options)
        let dealer = try dealer(router.addresses[0])
        try dealer.send([MessageFrame([UInt8](repeating: 1, count: 1000))])
        #expect(routed.wait { $0.messages.count == 1 })
        try dealer.send([MessageFrame([UInt8](repeating: 2, count: 1001))])
        #expect(routed.wait { $0.events.contains { $0.kind == .disconnected } })
        #expect(routed.now.messages.count == 1)
    }

    @Test("A message of too many frames is dropped and reported, the next one arrives")
    func tooManyFrames() throws {
        var options = SocketOptions()
        options.maximumFrames = 4
        let router = try silentRouter(options: options)
        let dealer = try dealer(router.addresses[0])
        try dealer.send(Array(repeating: MessageFrame([7]), count: 50))
        try dealer.send(frames("after"))
        #expect(routed.wait { $0.messages.count == 1 && $0.dropped == 1 })
        #expect(routed.now.messages.first?.texts == ["after"])
    }

    @Test("A thousand messages from four threads arrive in order for each sender")
    func manySenders() throws {
        let router = try echo()
        let dealer = try dealer(router.addresses[0])
        let sender = dealer.sender
        for thread in 0..<4 {
            Thread.detachNewThread {
                for number in 0..<250 { try? sender.send(frames("\(thread)", "\(number)")) }
            }
        }
        #expect(dealt.wait { $0.messages.count == 1000 })
        for thread in 0..<4 {
            let numbers = dealt.now.messages.map(\.texts).filter { $0[0] == "\(thread)" }.map { $0[1] }
            #expect(numbers == (0..<250).map(String.init))
        }
    }

    @Test("A peer that does not read holds up neither the router nor another peer, and its messages arrive later")
    func slowPeer() throws {
        var options = SocketOptions()
        options.sendHighWater = 2
        options.receiveHighWater = 2
        let router = try silentRouter(options: options)
        let gate = NSCondition()
        let isOpen = Mutex(false)
        let slow = try DealerEndpoint(context: context, address: router.addresses[0], options: options) { [dealt] _ in
            Recorder(dealt) { _ in
                gate.lock()
                while !isOpen.withLock({ $0 }) { gate.wait() }
                gate.unlock()
            }
        }
        try slow.send(frames("slow"))
        #expect(routed.wait { $0.messages.count == 1 })
        let slowPeer = try #require(routed.now.messages.first?.peer)
        let chunk = MessageFrame([UInt8](repeating: 5, count: 1 << 18))
        for _ in 0..<100 { try router.send([chunk], to: slowPeer) }

        let quickJournal = Journal()
        let quick = try DealerEndpoint(context: context, address: router.addresses[0]) { _ in Recorder(quickJournal) }
        try quick.send(frames("quick"))
        #expect(routed.wait { $0.messages.count == 2 })
        try router.send(frames("to quick"), to: try #require(routed.now.messages.last?.peer))
        #expect(quickJournal.wait { $0.messages.count == 1 })
        #expect(dealt.now.messages.count < 100)

        gate.lock()
        isOpen.withLock { $0 = true }
        gate.broadcast()
        gate.unlock()
        #expect(dealt.wait { $0.messages.count == 100 })
        #expect(routed.now.failures.isEmpty)
    }

    @Test("What waits for one peer is bounded: the rest is reported as congested, in time and without loss before it")
    func congested() throws {
        var options = SocketOptions()
        options.sendHighWater = 1
        let socket = try context.socket(.dealer)
        try options.apply(to: socket, type: .dealer)
        try socket.connect(try directory.address("nobody"))
        var delivery = Delivery(maximumPeerBytes: 1 << 20)
        let message = OutgoingMessage(peer: nil, frames: [MessageFrame([UInt8](repeating: 5, count: 1 << 18))])
        var outcomes: [MessagingError.Code?] = []
        for _ in 0..<8 { delivery.submit(message, through: socket) { outcomes.append($1?.code) } }
        // One went to libzmq, four wait.
        #expect(outcomes == [nil, .congested, .congested, .congested])
        delivery.abandon(MessagingError(.stopped, "send")) { outcomes.append($1?.code) }
        #expect(outcomes.suffix(4) == [.stopped, .stopped, .stopped, .stopped])
        #expect(!delivery.isBlocked)
    }

    @Test("What waits in all is bounded: the sender is told at once")
    func queueLimit() throws {
        var options = SocketOptions()
        options.sendHighWater = 1
        options.maximumPeerBytes = 1 << 20
        let dealer = try dealer(try directory.address("nobody"), options: options)
        let error = #expect(throws: MessagingError.self) {
            for _ in 0..<10 { try dealer.send([MessageFrame([UInt8](repeating: 5, count: 1 << 18))]) }
        }
        #expect(error?.code == .congested)
    }

    @Test("Ticks come without messages")
    func ticks() throws {
        let router = try echo(tick: .milliseconds(5))
        #expect(routed.wait { $0.ticks >= 5 })
        router.stop()
    }

    @Test("Work is done on the endpoint's thread in order with messages")
    func perform() throws {
        let router = try echo()
        let order = Journal()
        for _ in 0..<10 {
            router.perform {
                $0.journal.addTick(); order.addTick()
            }
        }
        #expect(order.wait { $0.ticks == 10 })
        router.stop()
        #expect(router.perform { _ in } == false)
        let error = #expect(throws: MessagingError.self) { try router.send(frames("x"), to: PeerIdentity([1])) }
        #expect(error?.code == .stopped)
    }

    @Test("A message sent just before stop still goes out")
    func lastWords() throws {
        let router = try silentRouter()
        let dealer = try dealer(router.addresses[0])
        try dealer.send(frames("first"))
        #expect(routed.wait { $0.messages.count == 1 })
        try dealer.send(frames("goodbye"))
        dealer.stop()
        #expect(routed.wait { $0.messages.count == 2 })
    }

    @Test("Stopping with messages that nobody takes ends at once, and so does the context")
    func promptStop() throws {
        let clock = ContinuousClock()
        var options = SocketOptions()
        options.sendHighWater = 4
        options.linger = .milliseconds(100)
        let time = try clock.measure {
            let own = try MessageContext()
            let journal = Journal()
            let dealer = try DealerEndpoint(
                context: own, address: try directory.address("nobody"), options: options
            ) { _ in Recorder(journal) }
            for _ in 0..<200 { try dealer.send([MessageFrame([UInt8](repeating: 5, count: 1 << 16))]) }
            dealer.stop()
            #expect(journal.now.stops == 1)
            #expect(journal.now.failures.count >= 190)
        }
        #expect(time < .seconds(2), "\(time)")
    }

    @Test("Stopping from the endpoint's own thread does not wait for itself")
    func stopInside() throws {
        let router = try echo()
        let box = Mutex<RouterEndpoint<Recorder>?>(router)
        router.perform { _ in box.withLock { $0?.stop() } }
        #expect(routed.wait { $0.stops == 1 })
        router.stop()
    }

    @Test("An address that is taken or cannot be is an error of the start")
    func badAddresses() throws {
        let router = try echo(at: "tcp://127.0.0.1:*")
        let taken = #expect(throws: MessagingError.self) { try echo(at: router.addresses[0]) }
        #expect(taken?.code == .addressInUse)
        #expect(throws: MessagingError.self) { try echo(at: "tcp://nowhere.invalid:5555") }
        #expect(throws: MessagingError.self) { try dealer("gopher://x") }
    }

    @Test("No descriptor of a socket is inherited by a program that is started")
    func closeOnExec() throws {
        let descriptors = "/proc/self/fd"
        guard FileManager.default.fileExists(atPath: descriptors) else { return print("skipped: no \(descriptors)") }
        // Whoever started the tests may have left some open.
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: descriptors))
        let router = try echo(at: "tcp://127.0.0.1:*", context: MessageContext())
        let dealer = try dealer(router.addresses[0])
        try dealer.send(frames("x"))
        #expect(dealt.wait { $0.messages.count == 1 })
        let after = try FileManager.default.contentsOfDirectory(atPath: descriptors)
        #expect(after.count > before.count)
        for name in after where !before.contains(name) {
            guard let descriptor = Int32(name),
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(name)"),
                target.hasPrefix("socket:") || target.contains("eventfd") || target.contains("eventpoll")
            else { continue }
            let flags = fcntl(descriptor, F_GETFD)
            #expect(flags == -1 || flags & FD_CLOEXEC != 0, "\(name) is \(target)")
        }
    }
}
