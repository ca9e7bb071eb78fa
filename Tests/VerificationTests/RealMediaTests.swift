internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Testing
internal import Verification
internal import Support

@Suite("Pictures at joins of real files")
struct RealMediaTests {
    /// Files that no plan can be made of, and why.
    static let refused: [String: ExitCode] = [
        // Encrypted.
        "shaka-player--video.mp4": .badSource
    ]

    @Test(
        "every owned picture of every segment equals the one-pass decode's, and all are owned", arguments: RealMedia.all
    )
    func joins(name: String) throws {
        guard let path = RealMedia.path(name) else { return }
        let expected = Self.refused[name]
        do throws(Failure) {
            let (index, plan, track) = try Self.plan(path)
            let source = SourceReference(
                location: path, fingerprint: try .of(path: path), videoTrack: track.index)
            let result = try JoinPictures.compare(source: source, plan: plan)
            print(
                "\(name): index from \(index.keyframes.origin), \(index.bytesRead) of \(index.bytesTotal) bytes read, "
                    + "\(plan.segments.count) segments, \(result.segmented) pictures, \(index.undecodable) samples show nothing"
            )
            #expect(expected == nil)
            #expect(result.mismatches == [])
            #expect(result.unowned == [])
            #expect(result.segmented == result.onePass)
        } catch {
            #expect(error.exitCode == expected, "\(error.message)")
        }
    }

    private static func plan(_ path: String) throws(Failure) -> (SourceIndex, SegmentPlan, Track) {
        let target = MediaTime(value: 2, timescale: 1)
        do {
            let track = try PictureTrack.find(in: try Demuxer(location: path).tracks, of: path)
            let index = try SourceIndexer(location: path, track: track, target: target, interrupt: InterruptFlag())
                .makeIndex()
            return (index, try SegmentPlan.make(index: index.keyframes, target: target), track)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.asset, "\(path): \(error)", exitCode: .badSource)
        }
    }
}
