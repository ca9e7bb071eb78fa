internal import ClusterProtocol
internal import Foundation
internal import Verification

extension SourceEngine {
    static func verify(_ request: VerifyRequest) async throws(Failure) -> VerifyReport {
        var declared = try request.report.map(declaredLosses) ?? DeclaredLosses()
        declared.kinds = request.allowed
        let known = declared
        let result = try await BlockingThread.run("verify") { () throws(Failure) in
            try Verifier(
                source: request.source, output: request.output, full: request.full,
                range: .init(start: request.start, end: request.end), declared: known
            ).report()
        }
        return VerifyReport(request, result)
    }

    private struct ExportLosses: Decodable {
        var losses: [String]
        var damage: [JobReport.Damage]?
    }

    /// What an export's report lists as lost.
    private static func declaredLosses(_ path: String) throws(Failure) -> DeclaredLosses {
        do {
            let report = try JSONDecoder().decode(
                ExportLosses.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            let dropped = (report.damage ?? []).filter { $0.kind == .dropped }.map {
                DeclaredLosses.Dropped(
                    track: $0.track, start: $0.start.seconds, end: $0.end.seconds, frames: $0.frames)
            }
            return DeclaredLosses(sentences: report.losses, dropped: dropped)
        } catch {
            throw Failure(
                .storage, "\(path) is no report of an export that can be read.",
                advice: "`weft export … --report FILE` writes one.", fault: .settings, exitCode: .noSource)
        }
    }
}

extension VerifyReport {
    fileprivate init(_ request: VerifyRequest, _ result: VerificationReport) {
        self.init(
            source: request.source, output: request.output, pass: result.pass, full: request.full,
            tracks: result.tracks.map { track in
                Track(
                    index: track.index, kind: track.mediaType, sourceSamples: track.source, outputSamples: track.output,
                    sourceSeconds: track.sourceSeconds, outputSeconds: track.outputSeconds,
                    maxPtsError: track.maxTimeError, meanPtsError: track.meanTimeError)
            },
            findings: result.findings.map(Finding.init), accepted: result.accepted.map(Finding.init),
            notes: result.notes.map(Finding.init),
            sync: result.sync.map { Sync(track: $0.track, at: $0.at, offset: $0.offset, method: $0.method) },
            structure: result.structure.map {
                Structure(
                    container: $0.container, fastStart: $0.isFastStart, fragmented: $0.isFragmented,
                    interleaving: $0.interleaving, editLists: $0.editLists)
            },
            pictures: request.full
                ? Pictures(
                    compared: result.comparedPictures, lowestPsnr: result.lowestPSNR, meanPsnr: result.meanPSNR,
                    lowestSsim: result.lowestSSIM, meanSsim: result.meanSSIM)
                : nil,
            joins: result.joins.map {
                Join(
                    seconds: $0.seconds, psnrBefore: $0.before, psnrAfter: $0.after, ssimBefore: $0.similarityBefore,
                    ssimAfter: $0.similarityAfter, lowestPsnr: $0.lowest, visible: $0.isVisible)
            },
            likeness: request.full
                ? result.likeness.map { Mark(seconds: $0.seconds, psnr: $0.decibels, ssim: $0.similarity) } : nil,
            ptsErrors: result.timeErrors.map { PtsError(seconds: $0.seconds, error: $0.error) })
    }
}

extension VerifyReport.Finding {
    fileprivate init(_ finding: Verification.Finding) {
        self.init(track: finding.track, kind: finding.kind.rawValue, detail: finding.detail)
    }
}
