internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling
internal import SegmentPlan
internal import Stitching

/// The bytes of finished segments, for clients that want one as a file.
extension ClientDesk {
    /// A part for each request, so that a client takes as fast as it can, and nothing urgent waits behind a segment.
    func sendSamples(_ id: JobID, _ query: Query, _ peer: PeerIdentity) {
        guard let job = jobs[id], let plan = job.plan else { return refuse(query.request, .notPlanned(id), peer) }
        let index = query.segment ?? 0
        guard plan.segments.indices.contains(index) else {
            return refuse(query.request, .unknownSegment(index, of: id, last: plan.segments.count - 1), peer)
        }
        let path = jobDirectory(id) + "/spool/" + Spool.fileName(ofSegment: index)
        let (store, sender) = (handler.store, handler.sender)
        handler.storage.perform {
            do throws(Failure) {
                let accepted = try Self.accepted(index, of: job, in: store)
                let (size, bytes) = try Self.read(path, from: query.offset, segment: index, of: id)
                let part = SpooledBytes(
                    request: query.request, segment: index, offset: query.offset, size: size, hash: accepted.hash,
                    timeBase: plan.timeBase, start: plan.segments[index].start, end: plan.segments[index].end)
                sender.reply(.samples(part), payload: [bytes], to: peer)
            } catch {
                sender.reply(.failure(RequestFailed(request: query.request, failure: error)), to: peer)
            }
        }
    }

    private static func accepted(
        _ index: Int, of job: ServiceJob, in store: StoreBox
    ) throws(Failure) -> AcceptedSegment {
        let id = job.id
        guard job.hasSpool else { throw .copiedPicture(id) }
        let record = try store.use { (store) throws(JobStoreError) in try store.segment(index, of: id) }
        switch record {
        case .finished(let accepted):
            guard !accepted.isCleaned else { throw .cleaned(index, of: id) }
            return accepted
        case .failed(_, let failure): throw .failedSegment(index, of: id, failure)
        // An earlier version made what it cleaned pending again.
        case .pending where job.phase == .over(.finished): throw .cleaned(index, of: id)
        case .pending: throw .pendingSegment(index, of: id, isOver: job.isOver)
        }
    }

    /// - Returns: bytes of the whole file, and as many from `offset` on as one frame may carry.
    private static func read(
        _ path: String, from offset: Int64, segment: Int, of id: JobID
    ) throws(Failure) -> (size: Int64, bytes: MessageFrame) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lostSpool(segment, of: id, errno) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw .lostSpool(segment, of: id, errno) }
        let size = Int64(info.st_size)
        guard offset < size else {
            throw Failure(
                .format, "The spool file of segment \(segment) has \(size) bytes; there is no byte \(offset).",
                advice: "Begin again at 0.", fault: .settings, exitCode: .usage)
        }
        let count = Int(min(Int64(ProtocolLimits.chunkBytes), size - offset))
        let bytes = try MessageFrame(count: count) { (buffer) throws(Failure) in
            var done = 0
            while done < count {
                let got = pread(
                    descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { throw .lostSpool(segment, of: id, got < 0 ? errno : 0) }
                done += got
            }
            return done
        }
        return (size, bytes)
    }
}

extension Failure {
    fileprivate static func notPlanned(_ id: JobID) -> Failure {
        Failure(
            .resources, "Job \(id) is not planned yet; it has no segments.",
            advice: "`weft job \(id)` tells how far it is.", retry: .retry, fault: .environment, exitCode: .temporary)
    }

    fileprivate static func pendingSegment(_ index: Int, of id: JobID, isOver: Bool) -> Failure {
        Failure(
            .resources, "Segment \(index) of job \(id) is not done\(isOver ? "" : " yet").",
            advice: isOver ? "`weft retry \(id)` makes what is missing." : "`weft segments \(id)` tells how far it is.",
            retry: .retry, fault: .environment, exitCode: .temporary)
    }

    fileprivate static func failedSegment(_ index: Int, of id: JobID, _ cause: Failure) -> Failure {
        Failure(
            .resources, "Segment \(index) of job \(id) failed: \(cause.message)",
            advice: "`weft segments \(id) --failed` says why; `weft retry \(id)` tries it again.", fault: cause.fault,
            log: cause.log, exitCode: .temporary)
    }

    fileprivate static func copiedPicture(_ id: JobID) -> Failure {
        Failure(
            .resources, "The picture of job \(id) was copied as it is; nothing of it is in the spool.",
            advice: "Cut it from the output: `weft export` with --start and --end.", fault: .settings,
            exitCode: .noSource)
    }

    /// The space was needed.
    fileprivate static func cleaned(_ index: Int, of id: JobID) -> Failure {
        Failure(
            .resources,
            "Segment \(index) of job \(id) is done, but its bytes are no longer kept: the spool was cleaned.",
            advice:
                "Cut it from the output with `weft export` and --start and --end, or `weft retry \(id)` to encode the job again.",
            fault: .environment, exitCode: .noSource)
    }

    fileprivate static func lostSpool(_ index: Int, of id: JobID, _ code: Int32) -> Failure {
        Failure(
            .storage,
            "The spool file of segment \(index) of job \(id) cannot be read"
                + (code == 0 ? ": it is short." : ": \(String(cString: strerror(code)))."),
            advice: "`weft retry \(id) --segment \(index)` makes it anew.", fault: .environment, code: code,
            exitCode: .ioError)
    }
}
