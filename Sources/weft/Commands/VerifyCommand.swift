internal import ClusterProtocol
internal import Foundation
internal import MediaTime
internal import Verification

/// What `weft verify` is asked.
struct VerifyRequest: Hashable, Sendable {
    var source: String
    var output: String
    /// Whether to decode both films and compare every picture, and the sound.
    var full = false
    /// The part of the source that the output is to hold.
    var start: MediaTime?
    var end: MediaTime?
    /// The report of the export, whose losses are no findings.
    var report: String?
    /// Kinds of findings that are accepted.
    var allowed: Set<Finding.Kind> = []
    /// Where to write the report for people.
    var html: String?
}

/// `weft verify SRC DST`: exits 0 when everything holds, 1 when something does not.
enum VerifyCommand {
    static let entry = CommandEntry(
        name: "verify",
        summary: "Compare an output with its source",
        details: """
            Compares every track of DST with those of SRC: timestamps, sound against picture, subtitles, chapters, tags, \
            colour and HDR, and how the container is built. DST may have been made by any program. With --full it also decodes \
            both, compares picture by picture (PSNR and SSIM), looks for joins that show, and listens for sound that drifts \
            or changes channels. Exits 0 when everything holds and 1 when something does not.
            """,
        operands: [
            OperandEntry(name: "SRC", help: "The source."), OperandEntry(name: "DST", help: "What was made of it."),
        ],
        options: [
            OptionEntry(name: "full", help: "Compare every picture, and the sound, too.", isSetting: false),
            OptionEntry(
                name: "start", value: "TIME", help: "DST begins at this time of SRC, as with export.",
                group: .result, isSetting: false),
            OptionEntry(
                name: "end", value: "TIME", help: "DST ends at this time of SRC, as with export.", group: .result,
                isSetting: false),
            OptionEntry(
                name: "report", value: "FILE",
                help: "The report of the export (export --report FILE): what it lists as lost is accepted.",
                completion: .file, isSetting: false),
            OptionEntry(
                name: "allow-loss", value: "LIST",
                help: "Accept findings of these kinds: chapters, hdr, missing-track, tags…",
                completion: .suggestions(Finding.Kind.allCases.map(\.rawValue)), isRepeatable: true, isSetting: false),
            OptionEntry(
                name: "html", value: "FILE", help: "Write a report for people, with plots, as one HTML file.",
                group: .output, completion: .file, isSetting: false),
            OptionTable.json,
        ],
        examples: [
            .init(line: "weft verify film.mov film.mp4 --full --html film.html", meaning: "pictures too, with plots"),
            .init(
                line: "weft verify film.mov film.mp4 --report r.json",
                meaning: "but for the losses that the export's report names"),
        ],
        run: { invocation in
            let request = try VerifyRequest(invocation)
            if let html = request.html { try JSONOutput.check(html) }
            let report = try await SourceEngine.verify(request)
            if let html = request.html {
                do {
                    try Data(VerifyPage(report).text.utf8).write(to: URL(fileURLWithPath: html), options: .atomic)
                } catch {
                    throw Failure(
                        .storage, "The report \(html) could not be written: \(error.localizedDescription)",
                        fault: .environment, exitCode: .cannotCreate)
                }
            }
            if invocation.has("json") {
                try JSONOutput.print(report)
            } else {
                StandardStream.output.write(report.text)
            }
            return report.pass ? .done : .jobFailed
        })
}

extension VerifyRequest {
    init(_ invocation: Invocation) throws {
        func time(_ option: String) throws -> MediaTime? {
            guard let text = invocation.value(of: option) else { return nil }
            guard let time = MediaTime(text: text), time.isNumeric, time >= .zero else {
                throw UsageError(
                    "verify", "--\(option): '\(text)' is not a time; write seconds (90, 12.5) or [HH:]MM:SS[.F].")
            }
            return time
        }
        source = ExportRequest.location(invocation.operands[0])
        output = ExportRequest.location(invocation.operands[1])
        full = invocation.has("full")
        start = try time("start")
        end = try time("end")
        if let start, let end, end <= start { throw UsageError("verify", "--end is not after --start.") }
        report = invocation.value(of: "report")
        html = invocation.value(of: "html")
        for word in (invocation.options["allow-loss"] ?? []).flatMap({ $0.split(separator: ",") }) {
            guard let kind = Finding.Kind(rawValue: String(word)) else {
                let kinds = Finding.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("verify", "--allow-loss: '\(word)' is no kind of finding; there are \(kinds).")
            }
            allowed.insert(kind)
        }
    }
}
