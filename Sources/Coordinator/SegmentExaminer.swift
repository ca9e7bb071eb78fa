internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Stitching
internal import Synchronization
internal import Worker

/// Holds what a slot returned against the source. Lives in a process of its own: decoders crash, and what they are given here comes
/// from machines that are not trusted.
///
/// What a look at the pictures throws doubt on is encoded once more, here: encoders are deterministic, so equal bytes clear the slot
/// and others convict it, as far as this machine encodes like the slots. So a doubt may be raised lightly.
final class SegmentExaminer {
    private let progress: () -> Void
    private var replay: (reference: SourceReference, replay: SegmentReplay)?
    private var lessons: [String: Lesson] = [:]

    /// What was learned about a job.
    private struct Lesson {
        /// Mean difference of brightness in a block of 16 × 16 pixels that no clean coding makes, of 255. Measured: at most 26 for
        /// libx264 at crf 40, while an altered byte mostly makes 45 to 250.
        var tolerance = 40.0
        /// The decoder has words about good segments, too.
        var ignoresWords = false
        /// Whether this machine encodes like the job's slots; `nil` until it was tried.
        var isAlike: Bool?
        var announced: [(recipe: EncodeRecipe, format: FormatDescription?)] = []
    }

    private struct Doubt {
        var reason: String
        var difference = 0.0
        var isOfDecoder = false
    }

    /// - Parameter progress: called for each picture.
    init(progress: @escaping () -> Void) { self.progress = progress }

    func examine(_ request: CheckRequest) -> CheckVerdict {
        let began = Self.processorSeconds
        var verdict = judge(request)
        verdict.seconds = Self.processorSeconds - began
        return verdict
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func judge(_ request: CheckRequest) -> CheckVerdict {
        let segment: SpooledSegment
        do throws(Failure) {
            segment = try Spool(directory: request.directory)
                .openSegment(request.segment.index, expectedHash: request.hash)
        } catch {
            return CheckVerdict(finding: .unreadable, reason: error.message)
        }
        do throws(Failure) {
            let replay = try opened(request.source)
            guard let doubt = try doubt(request, segment, replay) else { return CheckVerdict(finding: .passed) }
            return try settle(doubt, request, segment, replay)
        } catch {
            return CheckVerdict(finding: .unable, reason: error.message)
        }
    }

    private func opened(_ reference: SourceReference) throws(Failure) -> SegmentReplay {
        if let replay, replay.reference == reference { return replay.replay }
        replay = nil
        let fresh = try SegmentReplay(reference)
        replay = (reference, fresh)
        return fresh
    }

    // MARK: Looking

    private func doubt(
        _ request: CheckRequest, _ segment: SpooledSegment, _ replay: SegmentReplay
    ) throws(Failure) -> Doubt? {
        if let doubt = try formatDoubt(request, segment, replay) { return doubt }
        if request.level == .encode, isAlike(request) { return Doubt(reason: "Every segment is encoded once more.") }
        let pictures: ReturnedPictures
        do {
            pictures = try ReturnedPictures(segment, timeBase: request.recipe.timeBase)
        } catch {
            guard error.reason != .unsupported else { throw Failure(error, role: .output) }
            return Doubt(reason: "No decoder takes it: \(error.message)")
        }
        if request.level == .decode { return try decode(pictures, request, segment) }
        return try compare(pictures, request, replay)
    }

    /// Whether it is the format that the settings give here.
    private func formatDoubt(
        _ request: CheckRequest, _ segment: SpooledSegment, _ replay: SegmentReplay
    ) throws(Failure) -> Doubt? {
        guard let own = try announced(request, replay) else { return nil }
        let format = segment.format
        guard format.codecName == own.codecName, format.width == own.width, format.height == own.height else {
            return Doubt(reason: "It is \(format.codecName) of \(format.width)×\(format.height) pixels.")
        }
        // Some encoders know their parameter sets only with the first picture; other builds may write others.
        guard !own.extradata.isEmpty, own.extradata != format.extradata, isAlike(request) else { return nil }
        return Doubt(reason: "Its parameter sets are not those that the settings give.")
    }

    private func announced(
        _ request: CheckRequest, _ replay: SegmentReplay
    ) throws(Failure) -> FormatDescription? {
        if let known = lessons[request.job]?.announced.first(where: { $0.recipe == request.recipe }) {
            return known.format
        }
        // An encoder that only the slots have, with their hardware.
        let format = try? replay.announcedFormat(request.recipe)
        lessons[request.job, default: Lesson()].announced.append((request.recipe, format))
        return format
    }

    private func decode(
        _ pictures: ReturnedPictures, _ request: CheckRequest, _ segment: SpooledSegment
    ) throws(Failure) -> Doubt? {
        for time in segment.shownTimes.sorted() {
            guard let picture = try pictures.next() else { return Doubt(reason: "A sample gives no picture.") }
            progress()
            guard picture.pts == time else {
                return Doubt(reason: "Its pictures have other times than its table says.")
            }
            if let doubt = wordsDoubt(pictures, request) { return doubt }
        }
        return try surplus(pictures, request)
    }

    private func compare(
        _ pictures: ReturnedPictures, _ request: CheckRequest, _ replay: SegmentReplay
    ) throws(Failure) -> Doubt? {
        let comparison = PictureByPicture(pictures, timeBase: request.recipe.timeBase, tolerance: tolerance(request))
        var doubt: Doubt?
        var failure: Failure?
        do throws(Failure) {
            try replay.pictures(of: request.segment, request.recipe) { [self] frame in
                progress()
                do throws(Failure) {
                    doubt =
                        try comparison.doubt(of: frame).map { Doubt(reason: $0, difference: comparison.largest) }
                        ?? wordsDoubt(pictures, request)
                } catch {
                    failure = error
                }
                return doubt == nil && failure == nil
            }
        } catch {
            if let failure { throw failure }
            if doubt == nil { throw error }
        }
        if let doubt { return doubt }
        return try surplus(pictures, request)
    }

    private func surplus(_ pictures: ReturnedPictures, _ request: CheckRequest) throws(Failure) -> Doubt? {
        if try pictures.next() != nil { return Doubt(reason: "It holds more pictures than the source.") }
        return wordsDoubt(pictures, request)
    }

    private func wordsDoubt(_ pictures: ReturnedPictures, _ request: CheckRequest) -> Doubt? {
        guard let words = pictures.trouble, lessons[request.job]?.ignoresWords != true else { return nil }
        return Doubt(reason: "Its samples do not decode cleanly (\(words)).", isOfDecoder: true)
    }

    private func tolerance(_ request: CheckRequest) -> Double { (lessons[request.job] ?? Lesson()).tolerance }

    // MARK: Encoding once more

    private func isAlike(_ request: CheckRequest) -> Bool {
        if let known = lessons[request.job]?.isAlike { return known }
        let own = try? SegmentReplay.fingerprint(of: request.provenRecipe)
        let isAlike = own != nil && own == request.fingerprint
        lessons[request.job, default: Lesson()].isAlike = isAlike
        return isAlike
    }

    private func settle(
        _ doubt: Doubt, _ request: CheckRequest, _ segment: SpooledSegment, _ replay: SegmentReplay
    ) throws(Failure) -> CheckVerdict {
        guard isAlike(request) else { return CheckVerdict(finding: .doubtful, reason: doubt.reason) }
        let comparison = SampleBySample(segment)
        var format: FormatDescription?
        do throws(Failure) {
            let progress = UncheckedProgress(progress)
            format = try replay.encode(request.segment, request.recipe) { (sample) throws(Failure) in
                progress.call()
                try comparison.take(sample)
            }
        } catch {
            guard comparison.difference != nil else { throw error }
        }
        let difference =
            comparison.difference ?? (format?.extradata == segment.format.extradata ? nil : "its parameter sets")
            ?? comparison.rest
        guard let difference else {
            learn(from: doubt, request)
            return CheckVerdict(finding: .passed, reason: doubt.reason, wasEncoded: true)
        }
        let words = "Encoded once more on the coordinator's machine it is not the same: \(difference) differ."
        let reason = request.level == .encode ? words : "\(doubt.reason) \(words)"
        return CheckVerdict(finding: .disproved, reason: reason, wasEncoded: true)
    }

    /// The slot was right: what spoke against it speaks against nobody in this job.
    private func learn(from doubt: Doubt, _ request: CheckRequest) {
        if doubt.isOfDecoder { lessons[request.job, default: Lesson()].ignoresWords = true }
        if doubt.difference > 0 { lessons[request.job, default: Lesson()].tolerance = doubt.difference * 1.25 }
    }
}

/// The encoder's thread alone calls it, while the one that made it waits.
private struct UncheckedProgress: @unchecked Sendable {
    let call: () -> Void
    init(_ call: @escaping () -> Void) { self.call = call }
}

/// Holds the pictures that a slot's samples decode to against those that its encoder was given, one by one.
private final class PictureByPicture {
    private let pictures: ReturnedPictures
    private let timeBase: TimeBase
    private let tolerance: Double
    private var difference: BlockDifference?
    private var isComparable = true
    /// The largest difference seen.
    private(set) var largest = 0.0

    init(_ pictures: ReturnedPictures, timeBase: TimeBase, tolerance: Double) {
        self.pictures = pictures
        self.timeBase = timeBase
        self.tolerance = tolerance
    }

    func doubt(of given: Frame) throws(Failure) -> String? {
        guard let found = try pictures.next() else { return "It holds fewer pictures than the source." }
        let time =
            given.timeBase == timeBase
            ? given.pts
            : given.pts.flatMap {
                try? given.timeBase.rescale($0, to: timeBase)
            }
        guard found.pts == time else { return "A picture has another time than in the source." }
        guard let value = distance(given, found) else { return nil }
        largest = max(largest, value)
        guard value > tolerance else { return nil }
        return "A picture is not like the source's (a block of it is \(Int(value)) of 255 away)."
    }

    private func distance(_ given: Frame, _ found: Frame) -> Double? {
        guard isComparable else { return nil }
        do throws(MediaError) {
            if difference?.accepts(given, found) != true {
                difference = try BlockDifference(given.format, found.format)
            }
            return try difference?.largest(given, found)
        } catch {
            // Other sizes, or pixels that libavfilter does not take: decoding has to do.
            isComparable = false
            return nil
        }
    }
}

/// Holds a slot's samples against those of this machine, byte for byte.
private final class SampleBySample: Sendable {
    private let segment: Unshared
    private let state = Mutex((number: 0, difference: String?.none))

    /// Read by the encoder's thread alone, while the one that made it waits.
    private struct Unshared: @unchecked Sendable { let value: SpooledSegment }

    init(_ segment: SpooledSegment) { self.segment = Unshared(value: segment) }

    var difference: String? { state.withLock { $0.difference } }

    /// After the last sample.
    var rest: String? { state.withLock { $0.number } == segment.value.count ? nil : "the numbers of samples" }

    func take(_ sample: Sample) throws(Failure) {
        let number = state.withLock { state in
            defer { state.number += 1 }
            return state.number
        }
        guard let words = try difference(sample, number) else { return }
        state.withLock { $0.difference = words }
        throw Failure.interrupted
    }

    private func difference(_ sample: Sample, _ number: Int) throws(Failure) -> String? {
        guard number < segment.value.count else { return "the numbers of samples" }
        let (own, returned) = (SampleTable.Entry(sample), segment.value.entries[number])
        guard own.pts == returned.pts, own.flags == returned.flags else { return "times or marks of its pictures" }
        guard own.size == returned.size else { return "its bytes" }
        let other = try segment.value.sample(
            number, pts: own.pts, dts: own.pts, duration: own.duration, timeBase: sample.timeBase)
        let isEqual = sample.withUnsafeBytes { left in
            other.withUnsafeBytes { right in left.elementsEqual(right) }
        }
        return isEqual ? nil : "its bytes"
    }
}

/// The checking process's side: one request a line, one answer a line.
package enum SegmentCheckServer {
    /// Serves until its input ends. Blocks.
    package static func run() {
        var heard = DispatchTime.now().uptimeNanoseconds
        let examiner = SegmentExaminer {
            let now = DispatchTime.now().uptimeNanoseconds
            guard now &- heard > 1_000_000_000 else { return }
            heard = now
            // A sign that it moves.
            say("\n")
        }
        while let line = readLine() {
            guard let request = try? JSONDecoder().decode(CheckRequest.self, from: Data(line.utf8)) else { continue }
            let verdict = examiner.examine(request)
            guard let data = try? JSONEncoder().encode(verdict) else { continue }
            say(String(decoding: data, as: UTF8.self) + "\n")
        }
    }

    private static func say(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
