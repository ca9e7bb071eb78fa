internal import Messaging
internal import Synchronization

/// Reaches the coordinator's thread from others, once its endpoint exists.
final class CoordinatorLink: Sendable {
    private let endpoint = Mutex<RouterEndpoint<CoordinatorHandler>?>(nil)

    func attach(_ fresh: RouterEndpoint<CoordinatorHandler>) { endpoint.withLock { $0 = fresh } }

    /// Runs `body` on the endpoint's thread; not at all after `detach`.
    func perform(_ body: @escaping @Sendable (CoordinatorHandler) -> Void) {
        let current = endpoint.withLock { $0 }
        current?.perform(body)
    }

    /// Stops the endpoint.
    func detach() {
        let current = endpoint.withLock { endpoint in
            defer { endpoint = nil }
            return endpoint
        }
        current?.stop()
    }
}
