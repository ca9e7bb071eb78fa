internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Scheduling

/// Looking at what slots returned, between its being durable and its being used.
///
/// A hash says that the bytes are those that the slot hashed; a slot with bad memory, or one that lies, hashes wrong bytes. So the
/// stitch gets a segment only when it was decoded and held against the source, by a process of the coordinator's own machine
/// (`SegmentExaminer`). What does not hold runs again on another node.
extension CoordinatorHandler {
    private static let mostDoubts = 3

    func examine(_ id: JobID, _ returned: ReturnedSegment) {
        guard let job = jobs[id] else { return }
        guard let checks = options.checks else { return approve(id, returned) }
        let doubts = job.doubts[returned.index] ?? []
        if let other = doubts.first(where: { !$0.isDisproved && $0.hasBytes(of: returned) }) {
            desk?.confirmed(id, returned, like: other.worker)
            return approve(id, returned)
        }
        jobs[id]?.underCheck[returned.index] = returned.lease
        let link = link
        checks.examine(
            CheckRequest(
                job: id.text, segment: job.segments[returned.index], recipe: job.recipe(ofSegment: returned.index),
                source: job.source, directory: job.spool.directory, hash: returned.fileHash, level: checks.level,
                provenRecipe: job.recipe, fingerprint: job.fingerprint, stallSeconds: job.stallSeconds)
        ) { verdict in link.perform { $0.examined(id, returned, verdict, checks.level) } }
    }

    /// Segments that the store had when the job was submitted.
    func examineStored(_ id: JobID, _ segments: [AcceptedSegment]) {
        for segment in segments {
            let returned = ReturnedSegment(
                index: segment.index, lease: segment.lease, worker: segment.worker, fileHash: segment.hash)
            if options.checks == nil || CheckNote.isGood(segment) {
                jobs[id]?.board.accept(segment.index, hash: segment.hash)
            } else {
                examine(id, returned)
            }
        }
    }

    private func examined(
        _ id: JobID, _ returned: ReturnedSegment, _ verdict: CheckVerdict, _ level: SegmentChecking
    ) {
        guard jobs[id]?.underCheck[returned.index] == returned.lease else { return }
        jobs[id]?.underCheck[returned.index] = nil
        jobs[id]?.count(verdict, level)
        switch verdict.finding {
        case .passed: approve(id, returned)
        case .unable:
            desk?.unchecked(id, returned, verdict.reason)
            approve(id, returned)
        // The board will find it so, too, and knows what to do (`redo`).
        case .unreadable: jobs[id]?.board.accept(returned.index, hash: returned.fileHash)
        case .disproved: disprove(id, returned, verdict.reason, isCertain: true)
        case .doubtful: disprove(id, returned, verdict.reason, isCertain: false)
        }
    }

    /// The stitch may have it.
    private func approve(_ id: JobID, _ returned: ReturnedSegment) {
        if let sets = returned.parameterSets, jobs[id]?.recipes[returned.index] == nil {
            if let failure = disagreement(of: sets, id) {
                return disprove(id, returned, failure.message, isCertain: false)
            }
            if jobs[id]?.parameterSets == nil { jobs[id]?.parameterSets = sets }
        }
        let doubts = jobs[id]?.doubts.removeValue(forKey: returned.index) ?? []
        for doubt in doubts where !doubt.isDisproved && doubt.fileHash != returned.fileHash {
            desk?.outvoted(id, doubt, by: returned.worker)
        }
        if options.checks != nil { checked.append((id, returned.index, returned.lease)) }
        jobs[id]?.board.accept(returned.index, hash: returned.fileHash)
    }

    /// Why the sets cannot be of the same track as those that are known to be good.
    func disagreement(of sets: ParameterSets, _ id: JobID) -> Failure? {
        guard let first = jobs[id]?.parameterSets, let failure = sets.difference(from: first) else { return nil }
        jobs[id]?.dissenters.insert(sets.worker.node)
        // Two against one: what is kept is wrong, and nobody else is to be blamed for that.
        if jobs[id].map({ $0.dissenters.count > 1 }) == true { fail(id, failure) }
        return failure
    }

    private func disprove(_ id: JobID, _ returned: ReturnedSegment, _ reason: String, isCertain: Bool) {
        let node = returned.worker.node
        let failure = Failure(
            .encoder, "What the slot returned is not what the source gives. \(reason)",
            advice: isCertain
                ? "It is encoded again elsewhere. Check the memory of \(node), and who has its key."
                : "It is encoded again elsewhere. If it repeats, check the memory of \(node).",
            retry: .elsewhere, fault: .worker)
        var doubts = jobs[id]?.doubts[returned.index] ?? []
        doubts.append(returned)
        doubts[doubts.count - 1].isDisproved = isCertain
        guard isCertain || doubts.count < Self.mostDoubts else {
            var final = failure
            final.message = "Segment \(returned.index) looks wrong whoever encodes it. \(failure.message)"
            final.advice =
                "The nodes do not encode it alike, and this machine cannot tell who is right: give all the same builds of FFmpeg, or "
                + "start the coordinator with --check-segments decode and retry the job."
            return fail(id, final)
        }
        jobs[id]?.checks?.redone += 1
        desk?.disproved(id, returned, failure)
        let (store, segment) = (store, returned.index)
        storage.perform {
            _ = try? store.use { (store) throws(JobStoreError) in
                try store.transaction { () throws(JobStoreError) in
                    _ = try store.reopenSegments([segment], of: id)
                    try store.disproveLease(returned.lease, failure)
                }
            }
        }
        jobs[id]?.withdraw(segment)
        jobs[id]?.doubts[segment] = doubts
        handle(
            .resultDisproved(id, segment: segment, node: returned.worker.node, failure, isCertain: isCertain))
    }

    /// Many at once: a coordinator that dies before looks at them again.
    func writeChecked() {
        guard !checked.isEmpty else { return }
        let (store, segments) = (store, checked)
        checked = []
        storage.perform {
            _ = try? store.use { (store) throws(JobStoreError) in
                try store.transaction { () throws(JobStoreError) in
                    for (job, segment, lease) in segments {
                        try store.noteSegment(segment, of: job, lease: lease, detail: try CheckNote.good)
                    }
                }
            }
        }
    }
}

/// What the store keeps of a check.
private struct CheckNote: Codable {
    var checked: Bool

    static var good: JSONText { get throws(JobStoreError) { try JSONText(CheckNote(checked: true)) } }

    static func isGood(_ segment: AcceptedSegment) -> Bool {
        (try? segment.detail?.decoded(as: CheckNote.self))?.checked == true
    }
}

extension JobRuntime {
    fileprivate mutating func count(_ verdict: CheckVerdict, _ level: SegmentChecking) {
        var tally = checks ?? JobReport.Checks(level: level.rawValue)
        tally.segments += 1
        tally.seconds += verdict.seconds
        if verdict.wasEncoded { tally.encoded += 1 }
        checks = tally
    }
}
