package import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling

/// The coordinator of a cluster: takes jobs from clients, leases segments to the slots of many nodes, and keeps what is done.
package final class CoordinatorService: Sendable {
    package struct Configuration: Sendable {
        /// `tcp://HOST:PORT` or `ipc://PATH`.
        package var addresses: [String]
        /// Job store, spools and keys.
        package var stateDirectory: String
        package var roots: Roots
        /// Bind in the clear where other machines can connect.
        package var isInsecure: Bool
        /// Ask for keys on loopback, too.
        package var requiresKeys: Bool
        package var spools: SpoolPolicy
        /// How closely returned segments are looked at, by processes that run `executable check`.
        package var checking: SegmentChecking
        package var executable: String
        /// How many of them; `nil` for half of the cores.
        package var checkProcesses: Int?

        package init(
            addresses: [String], stateDirectory: String, roots: Roots, isInsecure: Bool = false,
            requiresKeys: Bool = false, spools: SpoolPolicy = SpoolPolicy(), checking: SegmentChecking,
            executable: String, checkProcesses: Int? = nil
        ) {
            self.spools = spools
            self.checkProcesses = checkProcesses
            self.checking = checking
            self.executable = executable
            self.addresses = addresses
            self.stateDirectory = stateDirectory
            self.roots = roots
            self.isInsecure = isInsecure
            self.requiresKeys = requiresKeys
        }
    }

    private let endpoint: RouterEndpoint<CoordinatorHandler>
    private let link: CoordinatorLink
    private let storage: SerialThread
    private let checks: SegmentChecks?
    /// Where it listens, wildcards resolved.
    package let addresses: [String]
    /// Sentences for whoever starts it.
    package let notes: [String]

    /// Opens the state, binds, and goes on with the jobs that are stored.
    package init(_ configuration: Configuration) throws(Failure) {
        DescriptorLimit.raise()
        let ring = KeyRing(state: configuration.stateDirectory)
        let context: MessageContext
        let bindings: [Binding]
        do {
            context = try MessageContext(ioThreads: 2)
            bindings = try Self.bindings(configuration, ring: ring, context: context)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Self.unbound(configuration, error)
        }
        let state = configuration.stateDirectory + "/coordinator"
        let (store, known, firstLease) = try Self.openState(state)
        let (storage, link) = (SerialThread(name: "weft-storage"), CoordinatorLink())
        let box = StoreBox(store)
        let (roots, spools) = (configuration.roots, configuration.spools)
        checks =
            configuration.checking == .none
            ? nil
            : SegmentChecks(
                level: configuration.checking,
                processes: configuration.checkProcesses ?? SegmentChecks.defaultProcesses,
                executable: configuration.executable)
        let options = CoordinatorHandler.Options(
            provesEncoders: true, checks: checks,
            authorize: { ring.role(of: $0) },
            makeDesk: { handler in ClientDesk(handler, directory: state, roots: roots, spools: spools, known: known) })
        // Slots and clients ask every two seconds whether the connection lives, and the handler knows who is silent; asking back
        // only closes what a dead router in between left open.
        var sockets = SocketOptions()
        sockets.heartbeatInterval = .seconds(60)
        do {
            endpoint = try RouterEndpoint(
                context: context, bindings: bindings, options: sockets, name: "weft-coordinator",
                tick: .milliseconds(200)
            ) { sender in
                CoordinatorHandler(
                    sender: sender, link: link, storage: storage, store: box, firstLease: firstLease, options: options)
            }
        } catch {
            storage.close()
            throw Self.unbound(configuration, error)
        }
        link.attach(endpoint)
        link.perform { $0.begin() }
        self.link = link
        self.storage = storage
        addresses = endpoint.addresses.map(Self.plain)
        notes = Self.notes(configuration, known: known)
    }

    private static func notes(_ configuration: Configuration, known: [ServiceJob]) -> [String] {
        var notes: [String] = []
        let isOpenToOthers = configuration.addresses.contains { !Binding.isLocal($0) }
        if isOpenToOthers, configuration.isInsecure {
            notes.append("Without keys: whoever reaches this address may run jobs here.")
        }
        if isOpenToOthers, configuration.roots.isEmpty {
            notes.append("Without --root: jobs may read and write wherever this user may.")
        }
        let unfinished = known.count { !$0.isOver }
        if unfinished > 0 { notes.append("Going on with \(unfinished) job\(unfinished == 1 ? "" : "s").") }
        return notes
    }

    /// An IPv4 address as everybody writes it: libzmq names it as IPv6 does (RFC 4291 §2.5.5.2).
    private static func plain(_ address: String) -> String {
        guard let start = address.range(of: "[::ffff:"), let end = address.range(of: "]:") else { return address }
        return address[..<start.lowerBound] + address[start.upperBound..<end.lowerBound] + ":"
            + address[end.upperBound...]
    }

    // MARK: Security

    private static func bindings(
        _ configuration: Configuration, ring: KeyRing, context: MessageContext
    ) throws -> [Binding] {
        let isKeyed = configuration.addresses.map { address in
            configuration.requiresKeys || (!Binding.isLocal(address) && !configuration.isInsecure)
        }
        guard isKeyed.contains(true) else { return configuration.addresses.map { Binding($0) } }
        let keys = try ring.coordinatorKeys()
        guard let keys, try !ring.entries().isEmpty else {
            throw Failure(
                .transport, "Other machines could connect, and no key is allowed yet.",
                advice:
                    "Make keys with `weft keys new --role worker --name NODE`, or say --insecure in a network you trust.",
                fault: .settings, exitCode: .badConfiguration)
        }
        let authenticator = try Authenticator(context: context) { key, _ in ring.role(of: key) }
        return zip(configuration.addresses, isKeyed).map { address, isKeyed in
            Binding(address, security: isKeyed ? .curve(keys, authenticator) : .open)
        }
    }

    private static func unbound(_ configuration: Configuration, _ error: any Error) -> Failure {
        let isUsed = (error as? MessagingError)?.code == .addressInUse
        return Failure(
            .transport, "Cannot listen at \(configuration.addresses.joined(separator: ", ")): \(error)",
            advice: isUsed
                ? "Another program listens there; choose another port with --listen."
                : "Check --listen: tcp://HOST:PORT with an address of this machine, or ipc://PATH.",
            fault: .settings, exitCode: isUsed ? .temporary : .badConfiguration)
    }

    // MARK: State

    private static func openState(_ path: String) throws(Failure) -> (JobStore, [ServiceJob], UInt64) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(
                .storage, "Cannot create the state directory \(path): \(error.localizedDescription)",
                advice: "Choose another --state directory.", fault: .environment, exitCode: .cannotCreate)
        }
        do throws(JobStoreError) {
            let store = try JobStore(at: path + "/jobs.db", busyTimeout: 1000)
            let jobs = try store.jobs().map { record throws(JobStoreError) in try ServiceJob(record) }
            // A million leases between two starts; the block is reserved anew with each.
            return (store, jobs, try store.reserveLeases(1 << 32).lowerBound)
        } catch {
            throw error.failure
        }
    }

    /// Whether the thread that serves workers and clients answers in time.
    package func answers(within seconds: Double) -> Bool {
        let answered = DispatchSemaphore(value: 0)
        link.perform { _ in answered.signal() }
        return answered.wait(timeout: .now() + seconds) == .success
    }

    /// Ends the endpoint and what is being stored. Jobs go on with the next start.
    package func stop() {
        checks?.close()
        let flushed = DispatchSemaphore(value: 0)
        link.perform { handler in
            handler.end()
            flushed.signal()
        }
        _ = flushed.wait(timeout: .now() + 5)
        link.detach()
        storage.close()
    }
}
