internal import Foundation

/// The report of `weft verify` as one HTML file for people: no script, nothing from elsewhere, readable without colour.
struct VerifyPage {
    private let report: VerifyReport

    init(_ report: VerifyReport) { self.report = report }

    var text: String {
        let title = "\(report.pass ? "Pass" : "Fail"): \(Self.name(report.output))"
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(Self.escape(title))</title><style>\(Self.style)</style></head><body>
            <h1>\(report.pass ? "✓ Pass" : "✗ Fail")</h1>
            <p class="files">Source: <code>\(Self.escape(report.source))</code><br>Output: <code>\(Self.escape(report.output))</code></p>
            <p>\(Self.escape(summary))</p>
            \(list("Findings", report.findings))\(trackTable)\(plots)\(joinTable)\(structure)\
            \(list("Lost, and declared beforehand", report.accepted))\(list("Notes", report.notes))
            </body></html>

            """
    }

    private var summary: String {
        let scope =
            report.full
            ? "Timestamps, tags, container, sound and every picture were compared."
            : "Timestamps, tags and the container were compared; pictures were not (--full does that)."
        return (report.pass ? "Everything holds. " : "\(Wording.count(report.findings.count, "finding")). ") + scope
    }

    // MARK: Tables

    private func table(_ heads: [String], _ rows: [[String]]) -> String {
        let head = heads.map { "<th scope=\"col\">\(Self.escape($0))</th>" }.joined()
        let body = rows.map { row in
            "<tr>" + row.map { "<td>\(Self.escape($0))</td>" }.joined() + "</tr>"
        }.joined(separator: "\n")
        return "<table><thead><tr>\(head)</tr></thead><tbody>\(body)</tbody></table>\n"
    }

    private func list(_ title: String, _ items: [VerifyReport.Finding]) -> String {
        guard !items.isEmpty else { return "" }
        return "<h2>\(Self.escape(title))</h2>\n"
            + table(
                ["Track", "Kind", "What"], items.map { [$0.track < 0 ? "file" : "\($0.track)", $0.kind, $0.detail] })
    }

    private var trackTable: String {
        let rows = report.tracks.map { track in
            [
                "\(track.index)", track.kind, "\(track.sourceSamples)", "\(track.outputSamples)",
                Wording.decimal(track.sourceSeconds, 3), track.outputSeconds.map { Wording.decimal($0, 3) } ?? "–",
                track.maxPtsError.map(Self.milliseconds) ?? "–", track.meanPtsError.map(Self.milliseconds) ?? "–",
            ]
        }
        return "<h2>Tracks</h2>\n"
            + table(
                [
                    "Track", "Kind", "Samples of source", "Samples of output", "Seconds of source", "Seconds of output",
                    "Largest time error", "Mean time error",
                ], rows)
    }

    private var joinTable: String {
        guard !report.joins.isEmpty else { return "" }
        let rows = report.joins.map { join in
            [
                Wording.clock(join.seconds, decimals: 3), Wording.decimal(join.psnrBefore, 1),
                Wording.decimal(join.psnrAfter, 1), Wording.decimal(join.lowestPsnr, 1),
                Wording.decimal(join.ssimBefore, 4), Wording.decimal(join.ssimAfter, 4), join.visible ? "shows" : "no",
            ]
        }
        return
            "<h2>Joins</h2><p>Medians of eight pictures either side of each place where segments may have been joined.</p>\n"
            + table(
                ["At", "PSNR before, dB", "after, dB", "lowest at the join, dB", "SSIM before", "after", "Visible"],
                rows)
    }

    private var structure: String {
        guard let structure = report.structure else { return "" }
        var rows = [
            ["Container", structure.container],
            [
                "Sound and picture of one moment lie apart by",
                "\(Wording.decimal(structure.interleaving, 3)) s at most",
            ],
        ]
        if let fast = structure.fastStart {
            rows.append(["Index", fast ? "before the media: plays while it loads" : "after the media"])
            rows.append(["Tracks with an edit list", "\(structure.editLists)"])
        }
        if let fragmented = structure.fragmented { rows.append(["Fragmented", fragmented ? "yes" : "no"]) }
        return "<h2>Container</h2>\n" + table(["", ""], rows)
    }

    // MARK: Plots

    private var plots: String {
        var text = ""
        let joins = report.joins.map(\.seconds)
        if let marks = report.likeness, !marks.isEmpty, let pictures = report.pictures {
            text += Plot(
                title: "PSNR of luma", unit: "dB", points: marks.map { ($0.seconds, $0.psnr) }, joins: joins
            ).figure(
                "Lowest \(Wording.decimal(pictures.lowestPsnr ?? 0, 1)) dB, mean \(Wording.decimal(pictures.meanPsnr ?? 0, 1)) dB; "
                    + "100 dB stands for equal pictures. Dashed lines: places where segments may join.")
            text += Plot(
                title: "SSIM of luma", unit: "", points: marks.map { ($0.seconds, $0.ssim) }, joins: joins
            ).figure(
                "Lowest \(Wording.decimal(pictures.lowestSsim ?? 0, 4)), mean \(Wording.decimal(pictures.meanSsim ?? 0, 4)); 1 for equal pictures."
            )
        }
        if report.ptsErrors.contains(where: { $0.error != 0 }) {
            text += Plot(
                title: "Error of picture times", unit: "ms",
                points: report.ptsErrors.map { ($0.seconds, $0.error * 1000) },
                joins: joins, dots: true
            ).figure("Output minus source; pictures without an error are left out.")
        } else if !report.ptsErrors.isEmpty {
            text += "<p>Every compared picture has exactly its time.</p>\n"
        }
        for track in Set(report.sync.map(\.track)).sorted() {
            let sync = report.sync.filter { $0.track == track }.sorted { $0.at < $1.at }
            text += Plot(
                title: "Sound against picture, track \(track)", unit: "ms",
                points: sync.map { ($0.at, $0.offset * 1000) },
                joins: [], dots: true, leastSpan: 40
            ).figure(
                "Above 0 the sound is late. Measured by: \(Set(sync.map(\.method)).sorted().joined(separator: ", ")).")
        }
        return text.isEmpty ? "" : "<h2>Over time</h2>\n" + text
    }

    // MARK: Text

    static func escape(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t": result += " "
            case _ where character.value < 32 || (127..<160).contains(character.value): result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private static func milliseconds(_ seconds: Double) -> String {
        seconds == 0 ? "none" : "\(Wording.decimal(seconds * 1000, 3)) ms"
    }

    private static let style = """
        body{font:16px/1.45 system-ui,sans-serif;max-width:60rem;margin:1.5rem auto;padding:0 1rem;color:#111;background:#fff}
        h1{font-size:1.8rem;margin:0}h2{font-size:1.15rem;margin:1.6rem 0 .4rem}code{overflow-wrap:anywhere}
        table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #bbb;vertical-align:top}
        figure{margin:1rem 0}figcaption{font-size:.85rem;color:#333}svg{width:100%;height:auto;border:1px solid #bbb}
        svg text{font:11px system-ui,sans-serif;fill:#111}
        """
}
