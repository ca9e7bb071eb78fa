internal import ClusterProtocol
internal import JobStore
internal import Scheduling
internal import Stitching

/// Segments that run again while their job is at work.
extension CoordinatorHandler {
    /// The spool no longer holds what the store says it does: that segment alone is made anew.
    func redo(_ id: JobID, _ segment: Int, _ failure: Failure) {
        guard let job = jobs[id] else { return }
        let words = "Segment \(segment) runs again: \(failure.message)"
        notice(id, words)
        jobs[id]?.warnings.append(words)
        desk?.lost(id, segment: segment, failure)
        let (store, directory) = (store, job.spool.directory)
        storage.perform {
            // The whole directory may be gone. Where this fails, storing the new result says so.
            _ = try? Spool(directory: directory)
            _ = try? store.use { (store) throws(JobStoreError) in try store.reopenSegments([segment], of: id) }
        }
        rerun(id, [segment], node: job.nodes[segment])
    }

    /// Segments that failed run again with what was said about them now.
    func rerun(_ id: JobID, _ segments: [Int], _ rerun: RerunRecipe?, node: String?) {
        for segment in segments {
            jobs[id]?.recipes[segment] = rerun?.recipe
            jobs[id]?.nodes[segment] = node
        }
        if let rerun { jobs[id]?.board.expect(rerun.mixing) }
        self.rerun(id, segments, node: node)
    }

    /// - Parameter node: the only one that may run them.
    func rerun(_ id: JobID, _ segments: [Int], node: String?) {
        for segment in segments {
            jobs[id]?.withdraw(segment)
            jobs[id]?.underCheck[segment] = nil
            jobs[id]?.doubts[segment] = nil
        }
        jobs[id]?.failed.removeAll { segments.contains($0.segment) }
        handle(.jobRetried(id, RetryRequest(segments: segments, node: node)))
    }
}
