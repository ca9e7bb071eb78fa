internal import ClusterProtocol
internal import Scheduling

/// Which slots have shown that they encode like the others of a job.
///
/// Library builds and processors are told apart by what they do to the same reference frames, not by what they claim.
struct EncoderProofs {
    private struct Key: Hashable {
        var worker: WorkerID
        var job: JobID
    }

    private enum State { case asked, proven }

    private var states: [Key: State] = [:]

    enum Verdict {
        case first, equal
        case different(Failure)
    }

    /// - Returns: whether the slot has to be asked now.
    mutating func begin(_ worker: WorkerID, _ job: JobID) -> Bool {
        let key = Key(worker: worker, job: job)
        guard states[key] == nil else { return false }
        states[key] = .asked
        return true
    }

    func isProven(_ worker: WorkerID, _ job: JobID) -> Bool { states[Key(worker: worker, job: job)] == .proven }

    mutating func take(_ answer: FingerprintAnswer, from worker: WorkerID, expected: String?) -> Verdict {
        if let failure = answer.failure { return .different(failure) }
        guard !answer.hash.isEmpty, expected == nil || expected == answer.hash else {
            return .different(
                Failure(
                    .encoder,
                    "\(worker.node) encodes the reference frames differently from the first node of this job.",
                    advice: "Give all nodes the same builds of weft and FFmpeg and processors of one kind.",
                    retry: .elsewhere, fault: .worker))
        }
        states[Key(worker: worker, job: JobID(answer.job))] = .proven
        return expected == nil ? .first : .equal
    }

    mutating func forget(_ job: JobID) { states = states.filter { $0.key.job != job } }
}
