package import ClusterProtocol
internal import Foundation
package import Media

/// Closed captions (CEA-608 and 708) in a sample as it is coded, for an export that cannot write them: the mark that user data of
/// ATSC A/53 part 4 §6.2.3 begin with, whatever message of the codec they lie in. It has no two zero bytes in a row, so nothing in
/// it is escaped.
package enum CaptionMark {
    private static let mark = Array("GA94".utf8) + [3]
    /// Messages come before the picture's own data.
    private static let reach = 1 << 16

    package static func isIn(_ sample: Sample) -> Bool { sample.withUnsafeBytes { isIn($0) } }

    static func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(reach))
        var index = 0
        // A byte follows the mark: flags, and in five bits how many captions there are.
        while index + mark.count < head.count, let base = head.baseAddress,
            let found = memchr(base + index, Int32(mark[0]), head.count - mark.count - index)
        {
            let place = UnsafeRawPointer(found) - base
            if head[place..<(place + mark.count)].elementsEqual(mark), head[place + mark.count] & 0x1F > 0 {
                return true
            }
            index = place + 1
        }
        return false
    }

    /// Whether a picture of a part of a source has captions: read until the first that has, not decoded.
    ///
    /// - Parameters:
    ///   - start: ticks of the track.
    ///   - end: exclusive.
    package static func isFound(
        in reference: SourceReference, from start: Int64, to end: Int64, interrupt: InterruptFlag
    ) throws(Failure) -> Bool {
        do throws(MediaError) {
            let demuxer = try Demuxer(location: reference.location, interrupt: interrupt)
            let reader = ProgramReader(demuxer, tracks: [reference.videoTrack], survivesDamage: true)
            while let sample = try reader.next()?.sample {
                guard let pts = sample.pts ?? sample.dts else { continue }
                if let dts = sample.dts, dts >= end { return false }
                if pts >= start, pts < end, !sample.isDiscarded, isIn(sample) { return true }
            }
            return false
        } catch {
            throw Failure(error, role: .source)
        }
    }
}
