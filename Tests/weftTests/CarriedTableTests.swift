import ClusterProtocol
import Testing

@testable import weft

@Suite("What is carried, for people")
struct CarriedTableTests {
    private let items = [
        CarriedItem(.video, .encoded, track: 0, from: "h264", to: "hevc"),
        CarriedItem(
            .audio, .copied, track: 1, from: "aac", language: "eng", title: String(repeating: "Commentary ", count: 9)),
        CarriedItem(.subtitle, .converted, track: 2, from: "hdmv_pgs_subtitle", to: "mov_text"),
        CarriedItem(.chapters, .copied, count: 12), CarriedItem(.tags, .copied, count: 1),
        CarriedItem(.hdr, .inVideo, from: "HDR10+"),
    ]

    @Test("a table and its notes fit in 80 columns")
    func width() {
        let loss =
            "The styles of subtitle track 2 (ass) are not carried: mov_text in MP4 has no named styles and no positions."
        let text = CarriedTable.text(items) + CarriedTable.notes([loss], "lost")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(text.contains("picture 0") && text.contains("encoded as hevc") && text.contains("12 chapters"))
        #expect(text.contains("lost: The styles") && text.contains("\n      "))
    }

    @Test("a summary says each in a few words")
    func words() {
        #expect(
            items.map(\.words) == [
                "picture h264 → hevc", "sound aac copied", "subtitle hdmv_pgs_subtitle → mov_text",
                "12 chapters copied",
                "tag copied", "HDR HDR10+ in the video",
            ])
    }
}
