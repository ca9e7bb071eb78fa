package import ClusterProtocol
package import Media
package import SegmentPlan
internal import SourceAccess

/// Whether the pictures that segments decode to are those of a one-pass decode, before any encoder sees them.
package enum JoinPictures {
    package struct Mismatch: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, Hashable {
            /// The one-pass decode has it, the segment has not.
            case missing
            /// The segment has it, the one-pass decode has not.
            case surplus
            /// Other pixels.
            case different
        }

        package var kind: Kind
        package var segment: Int
        /// Ticks of the source track.
        package var pts: Int64

        package var description: String { "\(kind.rawValue) picture at \(pts) in segment \(segment)" }
    }

    package struct Result: Sendable {
        /// Pictures of the one-pass decode.
        package var onePass = 0
        /// Those of them that no segment owns.
        package var unowned: [Int64] = []
        /// Pictures that the segments gave.
        package var segmented = 0
        package var mismatches: [Mismatch] = []
    }

    /// Decodes the source twice, in one pass and by segments, and compares every picture. Memory grows with the number of
    /// pictures (their hashes, not their pixels).
    package static func compare(
        source: SourceReference, plan: SegmentPlan, interrupt: InterruptFlag = InterruptFlag()
    ) throws(Failure) -> Result {
        var result = Result()
        var reference = try onePass(source, interrupt: interrupt)
        result.onePass = reference.reduce(0) { $0 + $1.value.count }
        let session = try SourceSession(source, interrupt: interrupt)
        for segment in plan.segments {
            for picture in try pictures(of: segment, session) {
                result.segmented += 1
                guard var expected = reference[picture.pts], !expected.isEmpty else {
                    result.mismatches.append(.init(kind: .surplus, segment: segment.index, pts: picture.pts))
                    continue
                }
                let index = expected.firstIndex(of: picture.hash)
                if index == nil {
                    result.mismatches.append(.init(kind: .different, segment: segment.index, pts: picture.pts))
                }
                expected.remove(at: index ?? 0)
                reference[picture.pts] = expected
            }
        }
        for pts in reference.filter({ !$0.value.isEmpty }).keys.sorted() {
            if let owner = plan.segments.first(where: { $0.start <= pts && pts < $0.end }) {
                result.mismatches.append(.init(kind: .missing, segment: owner.index, pts: pts))
            } else {
                result.unowned.append(pts)
            }
        }
        return result
    }

    private static func onePass(
        _ source: SourceReference, interrupt: InterruptFlag
    ) throws(Failure) -> [Int64: [String]] {
        let reader = try PictureReader(
            location: source.location, track: source.videoTrack, threads: 1, interrupt: interrupt)
        var pictures: [Int64: [String]] = [:]
        while let frame = try reader.next() {
            pictures[frame.pts ?? .min, default: []].append(hash(of: frame))
        }
        return pictures
    }

    private static func pictures(
        of segment: Segment, _ session: SourceSession
    ) throws(Failure) -> [(pts: Int64, hash: String)] {
        var pictures: [(pts: Int64, hash: String)] = []
        func keep(_ frame: Frame) {
            guard let pts = frame.pts, segment.start <= pts, pts < segment.end else { return }
            pictures.append((pts, hash(of: frame)))
        }
        try session.begin(segment)
        do {
            let decoder = try DecompressionSession(format: session.track.format, timeBase: session.track.timeBase)
            while let sample = try session.next() {
                do {
                    try decoder.decode(sample, output: keep)
                } catch {
                    guard error.reason == .invalidData else { throw error }
                }
            }
            try decoder.finish(output: keep)
        } catch let error as MediaError {
            throw Failure(error, role: .source)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.decoder, "Segment \(segment.index) cannot be decoded: \(error)")
        }
        return pictures
    }

    private static func hash(of frame: Frame) -> String {
        var hash = ContentHash()
        hash.update(Array("\(frame.width)x\(frame.height) \(frame.pixelFormat)".utf8))
        frame.forEachRow { hash.update($0) }
        return hash.finish()
    }
}
