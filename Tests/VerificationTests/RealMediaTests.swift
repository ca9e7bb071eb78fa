internal import ClusterProtocol
internal import Media
internal import SegmentPlan
internal import SourceAccess
internal import Testing
internal import Verification

@Suite("Pictures at joins of real files")
struct RealMediaTests {
    @Test("every owned picture of every segment equals the one-pass decode's", arguments: RealMedia.all)
    func joins(name: String) throws {
        guard let path = RealMedia.path(name) else { return }
        do {
            let demuxer = try Demuxer(location: path)
            let track = try PictureTrack.find(in: demuxer.tracks, of: path)
            let index = try SourceIndexer(
                location: path, track: track, target: .init(value: 2, timescale: 1), interrupt: InterruptFlag()
            ).makeIndex()
            let plan = try SegmentPlan.make(index: index.keyframes, target: .init(value: 2, timescale: 1))
            let source = SourceReference(
                location: path, fingerprint: try .of(path: path), videoTrack: track.index)
            let result = try JoinPictures.compare(source: source, plan: plan)
            print(
                "TABLE \(name)\t\(index.keyframes.origin)\t\(index.bytesRead)/\(index.bytesTotal)\tkeys \(index.keyframes.keyframes.count)\tseg \(plan.segments.count)\tonepass \(result.onePass)\tsegmented \(result.segmented)\tunowned \(result.unowned.count) \(result.unowned.prefix(3))\tundec \(index.undecodable)\tmismatch \(result.mismatches.count) \(result.mismatches.prefix(3))"
            )
        } catch let failure as Failure {
            print("TABLE \(name)\tFAILURE \(failure.exitCode.rawValue) \(failure.message)")
        } catch {
            print("TABLE \(name)\tERROR \(error)")
        }
    }
}
