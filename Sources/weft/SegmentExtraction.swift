internal import ClusterProtocol
internal import Coordinator
internal import Foundation
internal import Media
internal import MediaTime

/// `weft segments ID --extract N OUT`.
struct SegmentExtraction: Sendable {
    private let job: String
    private let segment: Int
    private let target: String
    private let overwrites: Bool
    private let isJSON: Bool
    private let cluster: ClusterRequest

    /// - Returns: `nil` where the list is asked for.
    init?(_ invocation: Invocation, job: String) throws {
        let target = invocation.operands.dropFirst().first
        guard let text = invocation.value(of: "extract") else {
            guard target == nil else {
                throw UsageError("segments", "A file is written only with --extract N, the number of a segment.")
            }
            return nil
        }
        guard let segment = Quantity.count(text, in: 0...ProtocolLimits.segments) else {
            throw UsageError("segments", "--extract: '\(text)' is not the number of a segment.")
        }
        guard let target else { throw UsageError("segments", "--extract needs the name of a file to write.") }
        guard !invocation.has("failed") else {
            throw UsageError("segments", "--failed lists; it cannot be had together with --extract.")
        }
        let reader = try ClusterRequest.reader(invocation)
        self.job = job
        self.segment = segment
        self.target = ExportRequest.location(target)
        overwrites = reader.isOn("overwrite")
        isJSON = invocation.has("json")
        cluster = ClusterRequest(reader)
    }

    func run() async throws -> ExitCode {
        let interrupt = InterruptFlag()
        Interruption.install().onRequest { interrupt.interrupt() }
        let made = try await cluster.withClient { (client) throws(Failure) in
            try SegmentExtract(client, job: job, segment: segment, interrupt: interrupt)
                .write(to: target, overwrites: overwrites)
        }
        if isJSON {
            try JSONOutput.print(
                Report(
                    job: job, segment: segment, output: target, frames: made.frames, bytes: made.bytes,
                    duration: made.duration))
        }
        let length = Wording.clock(made.duration.seconds, decimals: 3)
        StandardStream.error.write(
            "weft: segment \(segment) of \(job) is in \(target): \(Wording.count(made.frames, "frame")), \(length), "
                + "\(Wording.bytes(made.bytes))\n")
        return .done
    }

    private struct Report: Encodable {
        var job: String
        var segment: Int
        var output: String
        var frames: Int
        var bytes: Int64
        var duration: MediaTime
    }
}
