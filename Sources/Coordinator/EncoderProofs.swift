internal import ClusterProtocol
internal import Scheduling

/// Which slots have shown that they encode like the others of a job.
///
/// Library builds and processors are told apart by what they do to the same reference frames, not by what they claim.
struct EncoderProofs {
    private enum State { case asked, proven }

    private var states: [WorkerID: [JobID: State]] = [:]

    enum Verdict {
        case first, equal
        case different(Failure)
    }

    /// - Returns: whether the slot has to be asked now.
    mutating func begin(_ worker: WorkerID, _ job: JobID) -> Bool {
        guard states[worker]?[job] == nil else { return false }
        states[worker, default: [:]][job] = .asked
        return true
    }

    /// The slot has a new connection: what it was asked over the old one may never have come.
    mutating func askAgain(_ worker: WorkerID) {
        states[worker] = states[worker]?.filter { $0.value == .proven }
    }

    func isProven(_ worker: WorkerID, _ job: JobID) -> Bool { states[worker]?[job] == .proven }

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
        states[worker, default: [:]][JobID(answer.job)] = .proven
        return expected == nil ? .first : .equal
    }

    mutating func forget(_ job: JobID) {
        states = states.compactMapValues { jobs in
            let rest = jobs.filter { $0.key != job }
            return rest.isEmpty ? nil : rest
        }
    }
}
