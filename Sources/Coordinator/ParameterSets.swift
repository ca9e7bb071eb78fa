internal import ClusterProtocol
internal import Media
internal import Scheduling

/// The part of a result's format that one track can have only once (ISO/IEC 14496-15: the sample entry's parameter sets), and
/// who brought it. A slot whose result brings another one encodes differently, or its bytes were altered on its machine: that is
/// noticed before anything is kept, where the segment can still be made elsewhere.
struct ParameterSets: Sendable {
    let extradata: [UInt8]
    let worker: WorkerID
    let segment: Int

    /// - Returns: `nil` for an archive that cannot be read; the spool says why.
    init?(archive: [UInt8], from worker: WorkerID, segment: Int) {
        guard let format = try? FormatDescription(archive: archive) else { return nil }
        extradata = format.extradata
        self.worker = worker
        self.segment = segment
    }

    func difference(from first: ParameterSets) -> Failure? {
        guard extradata != first.extradata else { return nil }
        let (here, there) = ("\(worker.node)/\(worker.slot)", "\(first.worker.node)/\(first.worker.slot)")
        return Failure(
            .encoder,
            "The segment's parameter sets are not those that \(there) gave for segment \(first.segment); one of the two is wrong.",
            advice:
                "It is encoded again elsewhere. If others disagree with \(there), too, drain \(first.worker.node) and retry the job; "
                + "else check the memory and the version of \(here).",
            retry: .elsewhere, fault: .worker)
    }
}
