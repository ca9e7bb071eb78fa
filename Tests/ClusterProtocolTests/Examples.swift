import MediaTime
import SegmentPlan

@testable import ClusterProtocol

/// One filled-in message of every type, with the sizes of the payload frames it travels with.
enum Examples {
    static let lease = LeaseName(job: "job-1", fence: 41)
    static let stages = StageSeconds(read: 0.25, decode: 1.5, filter: 0.125, encode: 9, send: 0.5)
    static let failure = Failure(
        .encoder, "The encoder refused a frame.", advice: "Try another preset.", retry: .elsewhere, fault: .worker,
        code: -22, log: ["[libx264] broken ratecontrol", "[libx264] gave up"])
    static let fingerprint = SourceReference.Fingerprint(
        size: 1 << 33, modified: 1_700_000_000, hash: "00ff00ff00ff00ff")
    static let source = SourceReference(location: "/film/ünï.mp4", fingerprint: fingerprint, videoTrack: 1)

    static func recipe() -> EncodeRecipe {
        var recipe = EncodeRecipe(
            encoder: "libx264", options: ["preset": "medium", "crf": "22"], threads: 2,
            filter: "scale=1280:720,format=yuv420p", timeBase: .mpeg, frameRateNumerator: 30_000,
            frameRateDenominator: 1001, width: 1280, height: 720, pixelFormat: "yuv420p")
        recipe.aspect = EncodeRecipe.Aspect(numerator: 64, denominator: 45)
        recipe.colour = EncodeRecipe.Colour(
            primaries: "bt2020", transfer: "smpte2084", matrix: "bt2020nc", range: "tv", chromaLocation: "topleft")
        recipe.source = EncodeRecipe.Picture(
            width: 3840, height: 2160, pixelFormat: "yuv420p10le", aspect: recipe.aspect, colour: recipe.colour)
        recipe.scan = .bottomFieldFirst
        recipe.masteringDisplay = EncodeRecipe.MasteringDisplay(
            values: [35_400, 14_600, 8500, 39_850, 6550, 2300, 15_635, 16_450, 10_000_000, 1])
        recipe.contentLight = EncodeRecipe.ContentLight(maximum: 1000, maximumFrameAverage: 400)
        recipe.filterMargin = 2
        recipe.isStrict = true
        return recipe
    }

    static func segment() -> Segment {
        let first = Keyframe(pts: 0, dts: -3003, position: 48, ordinal: 0, kind: .clean)
        let own = Keyframe(pts: 900_900, dts: 897_897, position: 8192, ordinal: 300, kind: .recovery(frames: 7))
        let next = Keyframe(pts: 1_801_800, dts: 1_798_797, position: 65_536, ordinal: 600, kind: .open, leading: 3)
        return Segment(index: 1, start: 900_900, end: 1_801_800, entry: first, keyframe: own, next: next)
    }

    static func settings() -> ExportSettings {
        var settings = ExportSettings()
        settings.videoCodec = .hevc
        settings.encoder = "libx265"
        settings.rate = .quality(24.5)
        settings.encoderOptions = ["x265-params": "keyint=250"]
        settings.audioCodec = .aac
        settings.audioBitrate = 192_000
        settings.filter = "hqdn3d"
        settings.filterMargin = 12
        settings.deinterlace = "auto"
        settings.toneMapping = .sdr
        settings.appliesRotation = true
        settings.isStrict = true
        settings.allowedLosses = [.dolbyVision, .hdr10Plus]
        settings.threads = 4
        return settings
    }

    static let worker: [(WorkerMessage, [Int])] = [
        (
            .hello(
                Hello(
                    role: .slot, node: "node-a", slot: 2, incarnation: "b7f3", pid: 4711, host: "a.example",
                    version: "0.1.0",
                    encoders: [EncoderOffer(name: "libx264"), EncoderOffer(name: "av1_vaapi", hardware: true)],
                    cores: 64, memory: 1 << 38, threads: 4,
                    predecessor: ProcessEnd(
                        incarnation: "a001", cause: .signalled, code: 9, lease: LeaseName(job: "job-1", fence: 40),
                        log: ["killed"]),
                    resume: lease)), []
        ),
        (.ready(Ready(source: "00ff00ff00ff00ff")), []),
        (.fingerprint(FingerprintAnswer(job: "job-1", hash: "abcd")), []),
        (.progress(Progress(lease: lease, frames: 120, ticks: -42, stageSeconds: stages, bytes: 99_999)), []),
        (.sourceCredit(SourceCredit(lease: lease, bytes: 1 << 20)), []),
        (.chunk(Chunk(lease: lease, sequence: 3, offset: 3 << 18)), [1 << 18]),
        (
            .result(
                SegmentResult(
                    lease: lease, frames: 300, samples: 300, bytes: 1_234_567,
                    hash: "0123456789abcdef0123456789ABCDEF", stageSeconds: stages, seconds: 11.5, firstPTS: 900_900,
                    lastPTS: 1_798_797, bytesRead: 7_654_321, warnings: ["A frame was late."])), [120, 9616]
        ),
        (.failed(LeaseFailed(lease: lease, failure: failure, frames: 17)), []),
        (.heartbeat(Heartbeat(lease: lease)), []),
        (.goodbye(Goodbye(reason: .drained)), []),
    ]

    static let coordinator: [(CoordinatorMessage, [Int])] = [
        (.identify(Identify()), []),
        (
            .welcome(
                Welcome(
                    coordinator: "c0", version: "0.1.0", heartbeatSeconds: 2, livenessSeconds: 10,
                    resume: .init(lease: lease, offset: 4096, credit: 1 << 20))), []
        ),
        (.refused(Refused(failure)), []),
        (.prove(Prove(job: "job-1", recipe: recipe())), []),
        (.lease(Lease(lease: lease, recipe: recipe(), source: source, access: .streamed, segment: segment())), []),
        (
            .source(
                SourceChunk(
                    lease: lease, stream: 0, sequence: 0, offset: 0, last: false,
                    track: SourceChunk.Track(
                        timeBase: .mpeg, frameRate: .init(numerator: 24, denominator: 1), aspect: nil))),
            [200, 16, 1 << 20]
        ), (.source(SourceChunk(lease: lease, stream: 1, sequence: 7, offset: 99, last: true)), [16, 0]),
        (.revoke(Revoke(lease: lease, reason: "Another slot was faster.")), []),
        (.credit(Credit(lease: lease, bytes: 1 << 18)), []),
        (.accepted(Accepted(lease: lease)), []),
        (.drain(Drain()), []),
        (.shutdown(Shutdown()), []),
    ]

    static let request: [ClientRequest] = [
        .submit(
            Submit(
                request: 1, settings: settings(), source: "/a.mp4", destination: "/b.mp4", priority: 5, overwrite: true)
        ),
        .query(Query(request: 2, subject: .events, job: "job-1", after: 77, follow: true)),
        .query(Query(request: 4, subject: .samples, job: "job-1", segment: 3, offset: 1 << 20)),
        .control(
            Control(
                request: 3, action: .retry, target: "job-1", segments: [4, 5], settings: settings(), node: "node-a")),
    ]

    static let reply: [ClientReply] = [
        .submitted(Submitted(request: 1, job: "job-1")),
        .done(Done(request: 3)),
        .jobs(Rows(request: 2, rows: [job()], more: true)),
        .segments(Rows(request: 2, rows: [segmentReport()])),
        .workers(Rows(request: 2, rows: [WorkerReport(node: "node-a", slot: 0, state: .busy)])),
        .events(Rows(request: 2, rows: [EventReport(id: 9, time: 1e9, kind: "leased", job: "job-1", detail: "…")])),
        .failure(RequestFailed(request: 2, failure: failure)),
    ]

    /// With its payload.
    static let samples = (
        ClientReply.samples(
            SpooledBytes(
                request: 4, segment: 3, offset: 1 << 20, size: 1_100_000, hash: "00112233445566778899aabbccddeeff",
                timeBase: .mpeg, start: 900_900, end: 1_801_800)), [1_100_000 - (1 << 20)]
    )

    static func job() -> JobReport {
        var job = JobReport(
            job: "job-1", state: .done, output: "/b.mp4", duration: MediaTime(value: 900_900, timescale: 90_000))
        job.videoHash = "00112233445566778899aabbccddeeff"
        job.proof = .init(
            pass: true, sourceFrames: 300, outputFrames: 300, missing: 0, duplicated: 0, maxPTSError: 0)
        return job
    }

    static func segmentReport() -> SegmentReport {
        SegmentReport(
            index: 3, start: MediaTime(value: 0, timescale: 25), end: MediaTime(value: 250, timescale: 25),
            state: .failed,
            attempts: [.init(worker: "node-a/0", node: "node-a", state: .failed, failure: failure, seconds: 2, fps: 12)]
        )
    }

    /// Every example as its header with the sizes of its payload.
    static func headers() throws -> [(header: [UInt8], payload: [Int])] {
        try worker.map { (try MessageCodec.encode($0.0, payload: $0.1), $0.1) }
            + coordinator.map { (try MessageCodec.encode($0.0, payload: $0.1), $0.1) }
            + request.map { (try MessageCodec.encode($0), []) }
            + reply.map { (try MessageCodec.encode($0), []) }
            + [(try MessageCodec.encode(samples.0, payload: samples.1), samples.1)]
    }
}
