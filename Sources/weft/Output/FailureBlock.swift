internal import ClusterProtocol

/// A failure as one readable block: what happened, where, whose fault it is, what to do, and the codec's own words.
struct FailureBlock: Sendable {
    let failure: Failure
    var style: TerminalStyle

    var text: String {
        var lines = [style.red("weft: ") + style.bold(TextTable.printable(failure.message))]
        lines.append(row("where", Self.place(failure.boundary)))
        lines.append(row("fault", Self.blame(failure.fault)))
        lines.append(row("again", Self.prospects(failure.retry)))
        if !failure.advice.isEmpty { lines.append(row("to do", TextTable.printable(failure.advice))) }
        if failure.code != 0 { lines.append(row("code", "\(failure.code)")) }
        for (number, entry) in failure.log.enumerated() {
            lines.append(row(number == 0 ? "codec" : "", TextTable.printable(entry)))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func row(_ title: String, _ text: String) -> String {
        "  " + style.dim(title + String(repeating: " ", count: max(0, 5 - title.count))) + "  " + text
    }

    private static func place(_ boundary: Failure.Boundary) -> String {
        switch boundary {
        case .asset: "asset (reading the source's container)"
        case .timing: "timing (timestamps of the source)"
        case .format: "format (what the tracks hold, or the output's container)"
        case .decoder: "decoder"
        case .filter: "filter"
        case .encoder: "encoder"
        case .hardware: "hardware (the encoding device)"
        case .transport: "transport (between coordinator and worker)"
        case .storage: "storage (reading or writing files)"
        case .finalization: "finalization (finishing the output file)"
        case .resources: "resources (memory, processes, sessions)"
        case .cancelled: "cancelled"
        }
    }

    private static func blame(_ fault: Failure.Fault) -> String {
        switch fault {
        case .source: "the source"
        case .settings: "the settings"
        case .worker: "the worker"
        case .environment: "this machine or its surroundings"
        }
    }

    private static func prospects(_ retry: Failure.Retry) -> String {
        switch retry {
        case .retry: "may work when tried again"
        case .elsewhere: "may work on another worker"
        case .giveUp: "will not work as it is"
        }
    }
}
