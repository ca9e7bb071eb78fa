internal import ClusterProtocol
internal import Verification

extension SourceEngine {
    static func verify(_ request: VerifyRequest) async throws(Failure) -> VerifyReport {
        let result = try await BlockingThread.run("verify") { () throws(Failure) in
            try Verifier(source: request.source, output: request.output, full: request.full).report()
        }
        return VerifyReport(
            source: request.source, output: request.output, pass: result.pass, full: request.full,
            tracks: result.tracks.map { track in
                VerifyReport.Track(
                    index: track.index, kind: track.mediaType, sourceSamples: track.source, outputSamples: track.output)
            },
            findings: result.findings.map(VerifyReport.Finding.init),
            notes: result.notes.map(VerifyReport.Finding.init),
            pictures: request.full
                ? VerifyReport.Pictures(
                    compared: result.comparedPictures, lowestPsnr: result.lowestPSNR, meanPsnr: result.meanPSNR)
                : nil)
    }
}

extension VerifyReport.Finding {
    fileprivate init(_ finding: Verification.Finding) {
        self.init(track: finding.track, kind: finding.kind.rawValue, detail: finding.detail)
    }
}
