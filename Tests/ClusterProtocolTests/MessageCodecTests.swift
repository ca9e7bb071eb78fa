import Foundation
import MediaTime
import Testing

@testable import ClusterProtocol

@Suite struct MessageCodecTests {
    @Test("Every worker message comes back as it went", arguments: Examples.worker.indices)
    func workerRoundTrip(index: Int) throws {
        let (message, payload) = Examples.worker[index]
        let header = try MessageCodec.encode(message, payload: payload)
        let back: WorkerMessage = try decode(header, payload)
        #expect(back == message)
        let inbound: InboundMessage = try decode(header, payload)
        #expect(inbound == .worker(message))
    }

    @Test("Every coordinator message comes back as it went", arguments: Examples.coordinator.indices)
    func coordinatorRoundTrip(index: Int) throws {
        let (message, payload) = Examples.coordinator[index]
        let back: CoordinatorMessage = try decode(try MessageCodec.encode(message, payload: payload), payload)
        #expect(back == message)
    }

    @Test("Every client request comes back as it went", arguments: Examples.request)
    func requestRoundTrip(message: ClientRequest) throws {
        let back: InboundMessage = try decode(try MessageCodec.encode(message))
        #expect(back == .client(message))
    }

    @Test("Every reply comes back as it went", arguments: Examples.reply)
    func replyRoundTrip(message: ClientReply) throws {
        let back: ClientReply = try decode(try MessageCodec.encode(message))
        #expect(back == message)
    }

    @Test("Spooled bytes come back as they went; bytes beyond the end of the file are refused")
    func samplesRoundTrip() throws {
        let (message, payload) = Examples.samples
        let header = try MessageCodec.encode(message, payload: payload)
        let back: ClientReply = try decode(header, payload)
        #expect(back == message)
        for wrong in [[], [0], [payload[0] + 1], [1, 1]] {
            #expect(throws: ProtocolError.self) { let _: ClientReply = try decode(header, wrong) }
        }
    }

    @Test("A header is flat JSON with version and type")
    func headerForm() throws {
        let header = try MessageCodec.encode(WorkerMessage.heartbeat(Heartbeat(lease: Examples.lease)))
        #expect(String(decoding: header, as: UTF8.self) == #"{"lease":"job-1:41","type":"heartbeat","weft":1}"#)
    }

    @Test("Unknown fields are ignored, absent optional fields keep their defaults")
    func unknownFields() throws {
        let header = #"{"weft":1,"type":"progress","lease":"j:7","frames":3,"colour":{"deep":[1,2]},"weight":1e9}"#
        let back: WorkerMessage = try decode(Array(header.utf8))
        #expect(back == .progress(Progress(lease: LeaseName(job: "j", fence: 7), frames: 3, ticks: nil)))
    }

    @Test("A client may leave out every setting that it does not care about")
    func sparseSettings() throws {
        let header = """
            {"weft":1,"type":"submit","request":4,"source":"/a","destination":"/b",
             "settings":{"video_codec":"av1","rate":{"bitrate":4000000}}}
            """
        let back: ClientRequest = try decode(Array(header.utf8))
        var settings = ExportSettings()
        settings.videoCodec = .av1
        settings.rate = .bitrate(4_000_000)
        #expect(back == .submit(Submit(request: 4, settings: settings, source: "/a", destination: "/b")))
    }

    @Test("Another version is refused by its number")
    func version() {
        expect(.version(2), #"{"weft":2,"type":"heartbeat"}"#)
    }

    @Test("An unknown type is refused by its name")
    func unknownType() {
        expect(.unknownType("dance"), #"{"weft":1,"type":"dance"}"#)
    }

    @Test(
        "Headers that are not a message are refused as malformed",
        arguments: [
            "", "{", "null", "[]", "{}", #"{"weft":1}"#, #"{"weft":"1","type":"heartbeat"}"#,
            #"{"weft":1,"type":"progress"}"#, #"{"weft":1,"type":"progress","lease":"x","frames":1}"#,
            #"{"weft":1,"type":"progress","lease":"j:-1","frames":1}"#,
            #"{"weft":1,"type":"progress","lease":"j:1","frames":1.5}"#,
            #"{"weft":1,"type":"progress","lease":"j:1","frames":99999999999999999999}"#,
            #"{"weft":1,"type":"goodbye","reason":"bored"}"#,
            #"{"weft":1,"type":"query","request":1,"subject":"job"}"#,
            #"{"weft":1,"type":"control","request":1,"action":"cancel","target":"../../etc"}"#,
        ])
    func malformed(header: String) {
        expect(.malformed, header)
    }

    @Test(
        "Numbers outside their range are refused",
        arguments: [
            #"{"weft":1,"type":"progress","lease":"j:1","frames":-1}"#,
            #"{"weft":1,"type":"progress","lease":"j:1","frames":9000000}"#,
            #"{"weft":1,"type":"progress","lease":"j:1","frames":1,"stage_seconds":{"encode":-1}}"#,
            #"{"weft":1,"type":"progress","lease":"j:1","frames":1,"stage_seconds":{"encode":1e300}}"#,
            #"{"weft":1,"type":"source_credit","lease":"j:1","bytes":9223372036854775807}"#,
        ])
    func outOfRange(header: String) {
        expect(.limit, header)
    }

    @Test("Names with control characters are refused: they would reach a terminal")
    func controlCharacters() {
        expect(.malformed, #"{"weft":1,"type":"fingerprint","job":"j","hash":"\u001b[2J"}"#)
    }

    @Test("Deep nesting is refused, not followed")
    func nesting() {
        let deep = String(repeating: "[", count: 100_000)
        expect(.malformed, #"{"weft":1,"type":"heartbeat","x":"# + deep)
    }

    @Test("A header above its limit is refused before it is parsed")
    func longHeader() {
        let header = Array(#"{"weft":1,"type":"heartbeat"}"#.utf8)
        let padded = header + [UInt8](repeating: 0x20, count: ProtocolLimits.headerBytes)
        #expect(throws: ProtocolError.self) { try decode(padded) as WorkerMessage }
    }

    @Test(
        "Payload frames must be those of the type",
        arguments: [
            (#"{"weft":1,"type":"heartbeat"}"#, [1]),
            (#"{"weft":1,"type":"chunk","lease":"j:1","sequence":0,"offset":0}"#, []),
            (#"{"weft":1,"type":"chunk","lease":"j:1","sequence":0,"offset":0}"#, [0]),
            (#"{"weft":1,"type":"chunk","lease":"j:1","sequence":0,"offset":0}"#, [1, 1]),
            (#"{"weft":1,"type":"chunk","lease":"j:1","sequence":0,"offset":0}"#, [ProtocolLimits.chunkBytes + 1]),
            (#"{"weft":1,"type":"chunk","lease":"j:1","sequence":0,"offset":1099511627776}"#, [1]),
        ])
    func payloadShape(header: String, payload: [Int]) {
        #expect(throws: ProtocolError.self) { try decode(Array(header.utf8), payload) as WorkerMessage }
    }

    @Test("What a peer would refuse is not sent")
    func outgoingChecks() {
        let long = String(repeating: "n", count: 256)
        let hello = Hello(
            role: .node, node: long, slot: -1, incarnation: "i", pid: 1, host: "h", version: "v", cores: 1, memory: 1,
            threads: 1)
        #expect(throws: ProtocolError.self) { try MessageCodec.encode(WorkerMessage.hello(hello)) }
    }

    @Test("A failure with a huge and dirty log is cut to the last lines and still sent")
    func clippedFailure() throws {
        var failure = Examples.failure
        failure.log = (0..<1000).map { "\u{1B}[31mline \($0) " + String(repeating: "é", count: 5000) }
        let message = WorkerMessage.failed(LeaseFailed(lease: Examples.lease, failure: failure))
        let back: WorkerMessage = try decode(try MessageCodec.encode(message))
        guard case .failed(let failed) = back else { throw ProtocolError.malformed("not failed") }
        #expect(failed.failure.log.count == ProtocolLimits.logLines)
        #expect(failed.failure.log.last?.hasPrefix("?[31mline 999 éé") == true)
    }

    @Test("A list longer than a header comes in pages that add up to it")
    func pages() throws {
        let rows = (0..<1000).map { EventReport(id: Int64($0), time: 0, kind: "leased") }
        let pages = Rows.pages(request: 5, rows: rows)
        #expect(pages.flatMap(\.rows) == rows)
        #expect(pages.map(\.more) == [true, true, true, false])
        #expect(Rows<EventReport>.pages(request: 5, rows: []).count == 1)
    }
}

@Suite struct ReportTests {
    @Test("A job report has every promised key, also those without a value")
    func jobKeys() throws {
        let report = JobReport(job: "j", state: .failed, output: "/b", duration: MediaTime(value: 0, timescale: 1))
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [String: Any]
        let keys = Set(try #require(object).keys)
        let promised: Set = [
            "job", "state", "output", "segments", "attempts", "frames", "duration", "wall_seconds", "encode_seconds",
            "slots", "efficiency", "tail_seconds", "warnings", "losses", "video_hash", "proof",
        ]
        #expect(promised.subtracting(keys) == [])
    }

    @Test("A proof, a worker and an attempt have the promised keys")
    func otherKeys() throws {
        func keys(_ value: some Encodable) throws -> Set<String> {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any]
            return Set(try #require(object).keys)
        }
        let proof = try keys(Examples.job().proof)
        #expect(
            proof == [
                "pass", "source_frames", "output_frames", "missing", "duplicated", "max_pts_error", "tracks",
                "complaints", "lacking",
            ])
        let worker = try keys(WorkerReport(node: "n", slot: 0, state: .idle))
        let promised: Set = [
            "node", "slot", "state", "encoder", "segment", "frames", "fps", "realtime", "bytes_in", "bytes_out",
            "failures", "stage_seconds",
        ]
        #expect(promised.subtracting(worker) == [])
        let attempt = SegmentReport.Attempt(worker: "n/0", node: "n", state: .running)
        #expect(try keys(attempt) == ["worker", "node", "state", "failure", "seconds", "fps"])
    }
}

@Suite struct LeaseIDTests {
    @Test("A lease id is its text and back")
    func roundTrip() {
        let lease = LeaseName(job: "a_b-C9", fence: .max)
        #expect(LeaseName(lease.description) == lease)
    }

    @Test(
        "Other texts are no lease ids",
        arguments: ["", ":", "a:", ":1", "a:01", "a:+1", "a b:1", "a/b:1", "a:1:", "é:1"])
    func refused(text: String) {
        #expect(LeaseName(text) == nil)
    }
}

func decode<Message: WireMessage>(_ header: [UInt8], _ payload: [Int] = []) throws(ProtocolError) -> Message {
    try header.span.withUnsafeBytes { (bytes) throws(ProtocolError) in
        try MessageCodec.decode(Message.self, header: bytes, payload: payload)
    }
}

private func expect(_ reason: ProtocolError.Reason, _ header: String) {
    do throws(ProtocolError) {
        let message: InboundMessage = try decode(Array(header.utf8))
        Issue.record("accepted \(message)")
    } catch {
        #expect(error.reason == reason, "\(error)")
    }
}
