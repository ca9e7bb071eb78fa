internal import ClusterProtocol
internal import Foundation
internal import Media
internal import SegmentPlan
internal import SourceAccess
internal import Synchronization

/// Where a pipeline's samples go, in decode order.
protocol SampleSink: AnyObject, Sendable {
    /// May wait (credit); throws when the lease is over.
    func append(_ sample: Sample) throws(Failure)
}

/// Reads, decodes, filters and encodes the frames of one segment.
///
/// Two threads: the caller's reads, decodes and filters; another encodes and hands the samples on. A short queue between
/// them keeps both busy and the memory of a slot bounded.
final class SegmentPipeline {
    struct Outcome: Sendable {
        /// Owned frames of the source.
        var frames: Int
        var format: FormatDescription
        var warnings: [String]
        /// What the source's damage did to the segment's pictures.
        var damage = SampleTable.Damage()
    }

    private let recipe: EncodeRecipe
    private let segment: Segment
    private let source: any SegmentSource
    private let path: PicturePath
    private let gauge: LeaseGauge
    private let cancellation: InterruptFlag
    private let metadata: DynamicMetadataStore?

    init(
        recipe: EncodeRecipe, segment: Segment, source: any SegmentSource, gauge: LeaseGauge,
        cancellation: InterruptFlag
    ) {
        self.recipe = recipe
        self.segment = segment
        self.source = source
        self.gauge = gauge
        self.cancellation = cancellation
        metadata = DynamicMetadataStore(recipe)
        path = PicturePath(recipe: recipe, picture: source.picture)
    }

    func run(into sink: any SampleSink) throws(Failure) -> Outcome {
        try checkCancelled()
        // Passing over a source that cannot be sought is work, too: a supervisor must not take it for a hang.
        try enter(segment)
        return try encode(into: sink)
    }

    private func enter(_ segment: Segment) throws(Failure) {
        let gauge = gauge
        try source.begin(segment, goesOn: recipe.filterMargin > 0) { gauge.count(bytesRead: $0) }
    }

    private func checkCancelled() throws(Failure) {
        if cancellation.isInterrupted { throw Failure.interrupted }
    }

    private func readSample() throws(Failure) -> Sample? {
        try checkCancelled()
        let start = LeaseGauge.now
        defer { gauge.add(.read, since: start) }
        let sample = try source.next()
        if let sample {
            gauge.count(bytesRead: sample.size)
            // What lies ahead of the segment is decoded only.
            if let pts = sample.pts, pts >= segment.start { metadata?.note(sample) }
        }
        return sample
    }

    // MARK: Encode

    private func encode(into sink: any SampleSink) throws(Failure) -> Outcome {
        let graph: FilterGraph
        let encoder: CompressionSession
        do throws(MediaError) {
            graph = try path.makeGraph(for: path.initialFormat())
            encoder = try path.makeEncoder()
        } catch {
            throw Failure(error, role: .encode)
        }
        let queue = BoundedQueue<Frame>(capacity: 8)
        let encoding = EncodingThread(encoder: encoder, queue: queue, sink: sink, gauge: gauge, metadata: metadata)
        encoding.start()
        let warnings: [String]
        let damage: SampleTable.Damage
        do throws(Failure) {
            var stage = try DecodingStage(self, graph: graph) { queue.push($0) }
            try stage.run()
            warnings = stage.warnings
            damage = stage.damage
            queue.close()
        } catch {
            queue.abandon()
            // What stopped the encoder is the cause; that its queue then refused a frame is not.
            _ = try encoding.join(fallback: error)
            throw error
        }
        let format = try encoding.join(fallback: nil)
        return Outcome(frames: gauge.frameCount, format: format, warnings: warnings, damage: damage)
    }

    /// Reads, decodes and filters, and hands the pictures out as an encoder would get them.
    /// - Parameter output: `false` ends it.
    func pictures(_ output: @escaping (Frame) -> Bool) throws(Failure) {
        try enter(segment)
        let graph: FilterGraph
        do throws(MediaError) {
            graph = try path.makeGraph(for: path.initialFormat())
        } catch {
            throw Failure(error, role: .encode)
        }
        var stage = try DecodingStage(self, graph: graph, output: output)
        try stage.run()
    }

    /// Reads, decodes and filters on the caller's thread.
    private struct DecodingStage {
        private let pipeline: SegmentPipeline
        private var graph: FilterGraph
        private let decoder: SegmentDecoder
        /// `false` ends it.
        private let output: (Frame) -> Bool
        private var times = RisingTimes()
        private var formatChanges = 0
        private var margin: FilterMargin

        init(
            _ pipeline: SegmentPipeline, graph: FilterGraph, output: @escaping (Frame) -> Bool
        ) throws(Failure) {
            self.pipeline = pipeline
            self.graph = graph
            self.output = output
            margin = FilterMargin(pipeline.segment, frames: pipeline.recipe.filterMargin)
            let picture = pipeline.source.picture
            decoder = try SegmentDecoder(pipeline.segment, format: picture.format, timeBase: picture.timeBase)
        }

        var damage: SampleTable.Damage { SampleTable.Damage(decoder.ledger) }

        var warnings: [String] {
            var warnings: [String] = []
            let index = pipeline.segment.index
            if times.moved > 0 {
                warnings.append("Segment \(index): \(times.moved) frames shared a time and were moved by one tick.")
            }
            if formatChanges > 0 {
                warnings.append("Segment \(index): the picture format changes; it is converted to the first one.")
            }
            return warnings
        }

        mutating func run() throws(Failure) {
            while !margin.isComplete {
                var mark = LeaseGauge.now
                let decoded = try decoder.next {
                    () throws(Failure) in
                    let sample = try pipeline.readSample()
                    mark = LeaseGauge.now
                    return sample
                } enter: { (segment) throws(Failure) in
                    margin = FilterMargin(pipeline.segment, frames: pipeline.recipe.filterMargin)
                    try pipeline.enter(segment)
                    return true
                }
                guard let decoded else { break }
                pipeline.gauge.add(.decode, since: mark)
                for frame in decoded { try deliver(frame) }
            }
            try filter { (graph, output) throws(MediaError) in try graph.finish(output: output) }
        }

        /// Frames outside the segment were decoded for reference only.
        private mutating func deliver(_ frame: Frame) throws(Failure) {
            guard let pts = frame.pts else { return }
            switch margin.place(frame, at: pts) {
            case .nowhere: return
            case .margin: try pass(frame, at: pts)
            case .segment(let before):
                for frame in before { try pass(frame, at: frame.pts ?? pts) }
                try pass(frame, at: times.place(pts))
            }
        }

        private mutating func pass(_ frame: Frame, at time: Int64) throws(Failure) {
            if !graph.accepts(frame) {
                formatChanges += 1
                if pipeline.recipe.isStrict { throw Self.formatChange(frame, at: time) }
                try filter { (graph, output) throws(MediaError) in try graph.finish(output: output) }
                do {
                    graph = try pipeline.path.makeGraph(for: frame.format)
                } catch {
                    throw Failure(error, role: .encode)
                }
            }
            let timed = frame.retimed(pts: time, duration: frame.duration, timeBase: frame.timeBase)
            try filter { (graph, output) throws(MediaError) in try graph.process(timed, output: output) }
        }

        private static func formatChange(_ frame: Frame, at time: Int64) -> Failure {
            Failure(
                .format,
                "The picture format changes to \(frame.width)×\(frame.height) \(frame.pixelFormat) at tick \(time), and --strict "
                    + "refuses to convert it.",
                advice: "Leave out --strict to bring all pictures to the format of the first.", fault: .source)
        }

        private func filter(
            _ body: (FilterGraph, (Frame) throws(MediaError) -> Void) throws(MediaError) -> Void
        ) throws(Failure) {
            let start = LeaseGauge.now
            var filtered: [Frame] = []
            do {
                try body(graph) { (frame) throws(MediaError) in filtered.append(frame) }
            } catch {
                throw Failure(error, role: .encode)
            }
            pipeline.gauge.add(.filter, since: start)
            for frame in filtered where margin.owns(frame) && !output(frame) { throw Failure.interrupted }
        }
    }
}

/// Encodes what the queue delivers.
private final class EncodingThread: @unchecked Sendable {
    // Touched by the thread until it is done, and by `join` after that.
    private let encoder: CompressionSession
    private let queue: BoundedQueue<Frame>
    private let sink: any SampleSink
    private let gauge: LeaseGauge
    private let metadata: DynamicMetadataStore?
    private let done = DispatchSemaphore(value: 0)
    private var failure: Failure?

    init(
        encoder: CompressionSession, queue: BoundedQueue<Frame>, sink: any SampleSink, gauge: LeaseGauge,
        metadata: DynamicMetadataStore?
    ) {
        self.metadata = metadata
        self.encoder = encoder
        self.queue = queue
        self.sink = sink
        self.gauge = gauge
    }

    func start() {
        let thread = Thread { [self] in
            do throws(Failure) {
                try run()
            } catch {
                failure = error
                queue.abandon()
            }
            done.signal()
        }
        thread.name = "weft-encode"
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Waits for the end.
    /// - Parameter fallback: what stopped the other side; thrown unless this side's own failure came first.
    func join(fallback: Failure?) throws(Failure) -> FormatDescription {
        done.wait()
        if let failure, fallback == nil || fallback == Failure.interrupted { throw failure }
        if let fallback { throw fallback }
        return encoder.format
    }

    private func run() throws(Failure) {
        while let frame = queue.pop() {
            metadata?.note(frame)
            try encode { (output) throws(MediaError) in try self.encoder.encode(frame, output: output) }
            gauge.countFrame(at: frame.pts ?? 0)
        }
        try encode { (output) throws(MediaError) in try self.encoder.finish(output: output) }
    }

    private func encode(
        _ body: ((Sample) throws(MediaError) -> Void) throws(MediaError) -> Void
    ) throws(Failure) {
        let start = LeaseGauge.now
        var samples: [Sample] = []
        do {
            try body { (sample) throws(MediaError) in samples.append(try metadata?.complete(sample) ?? sample) }
        } catch {
            throw Failure(error, role: .encode)
        }
        gauge.add(.encode, since: start)
        for sample in samples {
            gauge.count(bytes: sample.size)
            try sink.append(sample)
        }
    }
}
