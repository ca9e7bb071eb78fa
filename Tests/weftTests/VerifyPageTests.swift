internal import Testing
@testable internal import weft

@Suite("The HTML report of verify")
struct VerifyPageTests {
    private func report(_ name: String) -> VerifyReport {
        var report = VerifyReport(
            source: "/film <b>&.mov", output: name, pass: false, full: true,
            tracks: [.init(index: 0, kind: "video", sourceSamples: 50, outputSamples: 49)],
            findings: [.init(track: 0, kind: "missing", detail: "<script>alert(\"1\")</script> is missing.")])
        report.pictures = .init(compared: 2, lowestPsnr: 30, meanPsnr: 40, lowestSsim: 0.9, meanSsim: 0.95)
        report.likeness = (0..<50).map { .init(seconds: Double($0) / 25, psnr: Double(30 + $0 % 10), ssim: 0.9) }
        report.joins = [
            .init(
                seconds: 1, psnrBefore: 40, psnrAfter: 30, ssimBefore: 0.98, ssimAfter: 0.8, lowestPsnr: 30,
                visible: true)
        ]
        return report
    }

    @Test("what comes from files is text, never markup")
    func escaped() {
        let page = VerifyPage(report("/out'\".mp4")).text
        #expect(!page.contains("<script"))
        #expect(page.contains("&lt;script&gt;alert(&quot;1&quot;)"))
        #expect(page.contains("/film &lt;b&gt;&amp;.mov") && page.contains("/out&#39;&quot;.mp4"))
    }

    @Test("it stands alone, says in words what failed, and marks the joins in its plots")
    func whole() {
        let page = VerifyPage(report("/out.mp4")).text
        #expect(!page.contains("http") && !page.contains("src=") && !page.contains("href="))
        #expect(page.contains("✗ Fail") && page.contains("<td>shows</td>"))
        #expect(page.contains("<polyline") && page.contains("stroke-dasharray"))
        #expect(["\"nan", "nan,", ",nan", "\"inf", ",inf"].allSatisfy { !page.contains($0) })
    }
}
