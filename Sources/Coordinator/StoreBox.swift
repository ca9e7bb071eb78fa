internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling

/// The job store, confined to the storage thread once jobs run.
final class StoreBox: @unchecked Sendable {
    private let store: JobStore

    init(_ store: JobStore) { self.store = store }

    /// On the storage thread only.
    func use<Result>(_ body: (JobStore) throws(JobStoreError) -> Result) throws(Failure) -> Result {
        do {
            return try body(store)
        } catch {
            throw error.failureOfExport
        }
    }

    /// All or none of them, in one commit.
    func accept(_ segments: [(segment: AcceptedSegment, job: JobID)]) throws(Failure) {
        try use { (store) throws(JobStoreError) in
            _ = try store.transaction { () throws(JobStoreError) in
                for (segment, job) in segments { try store.acceptSegment(segment, of: job, at: Clock.wall) }
            }
        }
    }
}

/// The store as other threads reach it: they wait for the storage thread.
struct StoreAccess: Sendable {
    let box: StoreBox
    let thread: SerialThread

    func use<Value: Sendable>(
        _ body: @escaping @Sendable (JobStore) throws(JobStoreError) -> Value
    ) throws(Failure) -> Value {
        let answer = Answer<Value>()
        let box = box
        thread.perform {
            do throws(Failure) {
                answer.give(.success(try box.use(body)))
            } catch {
                answer.give(.failure(error))
            }
        }
        return try answer.wait().get()
    }
}

/// What one thread gives and another waits for.
final class Answer<Value: Sendable>: @unchecked Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    // Written before the signal, read after the wait.
    private var value: Result<Value, Failure>?

    func give(_ value: Result<Value, Failure>) {
        self.value = value
        semaphore.signal()
    }

    func wait() -> Result<Value, Failure> {
        semaphore.wait()
        return value ?? .failure(.interrupted)
    }
}
