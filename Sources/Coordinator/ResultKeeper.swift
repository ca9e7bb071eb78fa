internal import ClusterProtocol
internal import JobStore
internal import Scheduling
internal import Stitching
internal import Synchronization

/// Makes results durable on the storage thread: the file, its directory, the job store, in that order.
///
/// A commit and a directory's fsync cost as much as a small segment's encoding, so results that come close together share
/// them; none waits for a later one.
final class ResultKeeper: @unchecked Sendable {
    /// Told the hash of the file, or what is in the way.
    typealias Done = @Sendable (Result<String, Failure>) -> Void

    private struct Entry {
        var segment: AcceptedSegment
        var job: JobID
        var spool: Spool
        var done: Done
    }

    private let storage: SerialThread
    private let store: StoreBox
    private let queued = Atomic<Int>(0)
    /// Files that have their name, not yet claimed by the store. Touched by the storage thread alone.
    private var unclaimed: [Entry] = []
    private static let mostTogether = 32

    init(_ storage: SerialThread, store: StoreBox) {
        self.storage = storage
        self.store = store
    }

    /// - Parameters:
    ///   - finish: completes the attempt's file; runs on the storage thread.
    ///   - done: told how it went, on the storage thread.
    func keep(
        _ job: JobID, _ receiver: SegmentReceiver, in spool: Spool,
        finish: @escaping @Sendable (SegmentReceiver) throws(Failure) -> AcceptedSegment,
        done: @escaping Done
    ) {
        queued.wrappingAdd(1, ordering: .relaxed)
        storage.perform { [self] in
            let isLast = queued.wrappingSubtract(1, ordering: .relaxed).newValue == 0
            do throws(Failure) {
                unclaimed.append(Entry(segment: try finish(receiver), job: job, spool: spool, done: done))
            } catch {
                done(.failure(error))
            }
            if isLast || unclaimed.count >= Self.mostTogether { claim() }
        }
    }

    private func claim() {
        let entries = unclaimed
        unclaimed = []
        guard !entries.isEmpty else { return }
        do throws(Failure) {
            var synced: Set<String> = []
            for entry in entries where synced.insert(entry.spool.directory).inserted { try entry.spool.sync() }
            try store.accept(entries.map { ($0.segment, $0.job) })
            for entry in entries { entry.done(.success(entry.segment.hash)) }
        } catch {
            // One of them may be to blame for all: each for itself now.
            for entry in entries { entry.done(alone(entry)) }
        }
    }

    private func alone(_ entry: Entry) -> Result<String, Failure> {
        do throws(Failure) {
            try entry.spool.sync()
            try store.accept([(entry.segment, entry.job)])
            return .success(entry.segment.hash)
        } catch {
            return .failure(error)
        }
    }
}
