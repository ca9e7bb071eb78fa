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

    @Test(
        "A filter that counts frames is told",
        arguments: [
            "fade=in:0:12", "fade=t=in:s=0:n=12", "fade=t=out:st=3", "drawtext=text='%{n}'",
            "drawtext=text=%{frame_num}",
            "hue=H=n/10", "rotate=a=n*0.1", "geq=lum='N*2'", "noise=alls=20:allf=t", "noise=c0s=9:c0f=t+u",
            "select='not(mod(n,2))'",
            "framestep=2", "trim=start_frame=10", "setpts=N/25/TB", "setpts=PTS-STARTPTS", "hflip,framestep=step=3",
            "eq=brightness=0.1:enable='between(n,0,30)'", "boxblur=enable='lt(n\\,9)'", "drawtext=text='%{e\\:n}'",
        ])
    func counting(chain: String) { #expect(!FilterTraits(chain).counting.isEmpty) }

    @Test(
        "A filter that depends on the picture and its time alone is not taken to count",
        arguments: [
            "", "scale=1280:-2", "fade=t=in:st=0:d=1", "drawtext=text='%{pts\\:hms}':x=10", "eq=contrast=1.1",
            "hue=s=0",
            "rotate=a=t*0.1", "noise=alls=20", "noise=alls=20:allf=u", "bwdif=mode=send_frame", "setpts=2*PTS",
            "fps=25",
            "crop=in_w-20:in_h", "unsharp", "geq=lum='lum(X,Y)'", "negate,hflip", "drawtext=text=on",
        ])
    func notCounting(chain: String) { #expect(FilterTraits(chain).counting.isEmpty) }
}
