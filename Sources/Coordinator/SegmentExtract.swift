package import ClusterProtocol
internal import Foundation
package import Media
package import MediaTime
internal import Messaging
internal import Stitching

/// One finished segment of a coordinator's job as a playable file. Blocking.
///
/// The bytes come over the client's connection, so that the coordinator's disk need not be this machine's.
package struct SegmentExtract: Sendable {
    private let client: CoordinatorClient
    private let job: String
    private let index: Int
    private let interrupt: InterruptFlag

    package init(_ client: CoordinatorClient, job: String, segment: Int, interrupt: InterruptFlag) {
        self.client = client
        self.job = job
        index = segment
        self.interrupt = interrupt
    }

    /// What was written.
    package struct Result: Sendable {
        package var frames: Int
        package var bytes: Int64
        package var duration: MediaTime
    }

    /// - Throws: what the coordinator refuses with; exit code 64 for a name that no container has, 73 where the target is there already.
    package func write(to target: String, overwrites: Bool) throws(Failure) -> Result {
        guard let container = Container(path: target) else {
            throw Failure(
                .format, "No container goes by the name of \(target).", advice: "Use .mp4, .mov, .mkv, .webm or .ts.",
                fault: .settings, exitCode: .usage)
        }
        do {
            let output = try PartialFile(target: target, overwrites: overwrites)
            // Beside the target, where there has to be room for as much anyway.
            let received = try PartialFile(target: target + ".spool", overwrites: true)
            defer { received.discard() }
            let part = try fetch(into: received.path)
            let segment = try SpooledSegment(receivedAt: received.path, index: index, expectedHash: part.hash)
            let file = SegmentFile(container, interrupt: interrupt)
            let bytes = try file.write(segment, timeBase: part.timeBase, end: part.end, to: output.path)
            try output.commit()
            let first = segment.presentationTimes.min() ?? part.start
            let duration = try? MediaTime(ticks: part.end &- first, in: part.timeBase)
            return Result(frames: segment.count, bytes: bytes, duration: duration ?? .zero)
        } catch let error as MediaError {
            throw Failure(error, role: .output)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.timing, "A time of the segment does not fit \(container): \(error).")
        }
    }

    /// - Returns: the last part, without its bytes.
    private func fetch(into path: String) throws(Failure) -> SpooledBytes {
        // A segment that is made anew meanwhile is another file.
        for _ in 0..<Self.tries {
            if let part = try fetchOnce(into: path) { return part }
        }
        throw Failure(
            .resources, "Segment \(index) of job \(job) was made anew while it was read.",
            advice: "Wait until the job is over, then ask again.", retry: .retry, fault: .environment,
            exitCode: .temporary)
    }

    private static let tries = 3

    /// - Returns: `nil` where the file is not the same throughout.
    private func fetchOnce(into path: String) throws(Failure) -> SpooledBytes? {
        let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unwritten(path) }
        defer { close(descriptor) }
        var offset: Int64 = 0
        var hash: String?
        while true {
            if interrupt.isInterrupted { throw Failure.stoppedExtract }
            let asked = offset
            let answer = try client.fetch {
                .query(Query(request: $0, subject: .samples, job: job, segment: index, offset: asked))
            }
            guard case .samples(let part) = answer.reply, part.offset == asked, part.segment == index,
                let bytes = answer.payload.first
            else { throw Self.nonsense }
            guard hash == nil || hash == part.hash else { return nil }
            hash = part.hash
            try bytes.withUnsafeBytes { (bytes) throws(Failure) in try Self.write(bytes, to: descriptor, path) }
            offset += Int64(bytes.count)
            if offset == part.size { return part }
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unwritten(path) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private static func unwritten(_ path: String) -> Failure {
        let code = errno
        return Failure(
            .storage, "Cannot write \(path): \(String(cString: strerror(code))).",
            advice: "The segment needs twice its size there while it is put together; choose another place.",
            fault: .environment, code: code, exitCode: code == ENOSPC || code == EDQUOT ? .cannotCreate : .ioError)
    }

    private static let nonsense = Failure(
        .transport, "The coordinator's answer does not belong to the question.",
        advice: "Use the same version of weft on both machines.", fault: .environment, exitCode: .ioError)
}
