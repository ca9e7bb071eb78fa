internal import ClusterProtocol
internal import Media
internal import MediaTime
internal import SegmentPlan
internal import SourceAccess
internal import Testing
internal import Verification

@Suite("Pictures at joins")
struct JoinPicturesTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var encoding: String
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "closed.mp4", encoding: "libx264 -g 48 -bf 3"),
        Kind(name: "open-h264.mp4", encoding: "libx264 -g 48 -bf 3 -x264-params open-gop=1"),
        Kind(name: "open-h264.ts", encoding: "libx264 -g 48 -bf 3 -x264-params open-gop=1"),
        Kind(
            name: "open-hevc.mkv",
            encoding: "libx265 -preset ultrafast -x265-params open-gop=1:keyint=48:log-level=none"),
        Kind(name: "refresh.mkv", encoding: "libx264 -g 48 -intra-refresh 1"),
        Kind(name: "open-mpeg2.ts", encoding: "mpeg2video -g 48 -bf 2 -q:v 3"),
        Kind(name: "vp9.webm", encoding: "libvpx-vp9 -deadline realtime -cpu-used 8 -g 48 -b:v 1M"),
        Kind(name: "mpeg4.avi", encoding: "mpeg4 -g 48 -bf 0 -q:v 3"),
    ]

    @Test("every owned picture of every segment equals the one-pass decode's", arguments: kinds)
    func joins(kind: Kind) throws {
        guard Clips.source != nil else { return }
        let path = try #require(
            Clips.make("joins-\(kind.name)", "-i SOURCE -map 0:v -fps_mode passthrough -c:v \(kind.encoding)"))
        let demuxer = try Demuxer(location: path)
        let track = try PictureTrack.find(in: demuxer.tracks, of: path)
        let target = MediaTime(value: 2, timescale: 1)
        let index = try SourceIndexer(location: path, track: track, target: target, interrupt: InterruptFlag())
            .makeIndex()
        let plan = try SegmentPlan.make(index: index.keyframes, target: target)
        let source = SourceReference(location: path, fingerprint: try .of(path: path), videoTrack: track.index)
        let result = try JoinPictures.compare(source: source, plan: plan)
        #expect(plan.segments.count >= 2)
        #expect(result.mismatches == [])
        #expect(result.unowned == [])
        #expect(result.segmented == 150)
    }

    /// One keyframe each, in containers that tell every sample, none, or only keyframes.
    static let longKinds = [
        Kind(name: "long-h264.mp4", encoding: "libx264 -g 9999 -bf 3"),
        Kind(name: "long-h264.ts", encoding: "libx264 -g 9999 -bf 3"),
        Kind(name: "long-hevc.mkv", encoding: "libx265 -preset ultrafast -x265-params keyint=-1:log-level=none"),
        Kind(name: "long-vp9.webm", encoding: "libvpx-vp9 -deadline realtime -cpu-used 8 -g 9999 -b:v 1M"),
        Kind(name: "long-mpeg2.mpg", encoding: "mpeg2video -g 600 -bf 2 -sc_threshold 1000000000 -q:v 3"),
    ]

    @Test("parts of a long group decode to the pictures of one pass", arguments: longKinds)
    func longGroups(kind: Kind) throws {
        guard Clips.source != nil else { return }
        let path = try #require(
            Clips.make("inside-\(kind.name)", "-i SOURCE -map 0:v -fps_mode passthrough -c:v \(kind.encoding)"))
        let track = try PictureTrack.find(in: Demuxer(location: path).tracks, of: path)
        let target = MediaTime(value: 1, timescale: 1)
        let index = try SourceIndexer(location: path, track: track, target: target, interrupt: InterruptFlag())
            .makeIndex(everySample: !path.hasSuffix(".mp4"))
        var plan = try SegmentPlan.make(index: index.keyframes, target: .positiveInfinity)
        let cost = CodingCost(decoding: 1e6, encoding: 1e9, picturesPerSecond: 25)
        plan = try #require(LongGroups(.always, cost: cost)).split(plan, index.keyframes, target: target)
        let source = SourceReference(location: path, fingerprint: try .of(path: path), videoTrack: track.index)
        let result = try JoinPictures.compare(source: source, plan: plan)
        #expect(plan.segments.count >= 2)
        // A part is not read beyond its end but for what is decoded early.
        let session = try SourceSession(source, interrupt: InterruptFlag())
        try session.begin(plan.segments[0])
        var count = 0
        while try session.next() != nil { count += 1 }
        #expect(count < 120)
        #expect(result.mismatches == [])
        #expect(result.unowned == [])
        #expect(result.segmented == 150)
    }
}
