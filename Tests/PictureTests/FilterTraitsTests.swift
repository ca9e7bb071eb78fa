import Testing

@testable import Coordinator

@Suite struct FilterTraitsTests {
    @Test("The filters of a chain are told through labels, quotes and escapes")
    func names() {
        let chain = "[in]scale=1280:-2, drawtext=text='a,b;c':x=1\\,2[x];[x]hflip@turn=1,null"
        #expect(FilterTraits.filters(of: chain).map(\.name) == ["scale", "drawtext", "hflip", "null"])
    }

    @Test(
        "A filter that looks around itself has a margin",
        arguments: [
            ("scale=1280:-2", 0), ("bwdif=mode=send_frame", 2), ("hqdn3d,yadif", 14), ("tmix=frames=5", 5),
            ("tmix=5", 5),
            ("format=yuv420p,crop=10:10", 0),
        ])
    func margins(chain: String, margin: Int) { #expect(FilterTraits(chain).margin == margin) }

    @Test(
        "Only filters known to keep every frame at its time are taken to do so",
        arguments: [
            ("scale=1280:-2,eq=contrast=1.1", true), ("bwdif", false), ("bwdif=0", true),
            ("bwdif=mode=send_frame:parity=tff", true), ("yadif", true), ("yadif=1", false), ("fps=25", false),
            ("select='gt(scene,0.4)'", false), ("setpts=2*PTS", false), ("somethingnew", false), ("", true),
        ])
    func keeping(chain: String, keeps: Bool) { #expect(FilterTraits(chain).keepsFrames == keeps) }
}
