package import ClusterProtocol
internal import Foundation
package import Media

extension Failure {
    /// A library error at the boundary of a job: the same facts, with blame and advice.
    ///
    /// - Parameter role: what the media was to the job; it decides whose fault a fault is.
    package init(_ error: MediaError, role: MediaRole) {
        let boundary = Boundary(rawValue: error.boundary.rawValue) ?? .asset
        self.init(
            boundary, error.message, retry: Self.retry(for: error), fault: Self.fault(for: error, role: role),
            code: error.code, log: error.log, exitCode: Self.exitCode(for: error, role: role))
        let isOnTheWeb = role == .source && error.message.contains("://")
        advice = (isOnTheWeb ? Self.webAdvice(for: error) : nil) ?? Self.advice(for: error, role: role)
        if error.code != 0, !message.contains(MediaError.text(of: error.code)) {
            message += " (\(MediaError.text(of: error.code)))"
        }
    }

    /// What the media was to the job.
    package enum MediaRole: Sendable {
        case source, encode, output
    }

    private static func retry(for error: MediaError) -> Retry {
        switch error.reason {
        case .outOfMemory, .timedOut: .elsewhere
        case .notFound, .notMedia, .unfinished, .notPermitted, .encrypted, .invalidSettings, .alreadyExists, .cancelled,
            .noSpace,
            .noRanges:
            .giveUp
        case .unsupported: .elsewhere
        case .invalidData, .other: .elsewhere
        }
    }

    private static func fault(for error: MediaError, role: MediaRole) -> Fault {
        switch error.reason {
        case .notMedia, .unfinished, .encrypted, .invalidData: .source
        case .invalidSettings: .settings
        case .noSpace, .outOfMemory, .timedOut, .notPermitted, .noRanges: .environment
        case .unsupported: role == .source ? .source : .settings
        case .notFound, .alreadyExists, .cancelled, .other:
            switch role {
            case .source: .source
            case .encode: .worker
            case .output: .environment
            }
        }
    }

    private static func exitCode(for error: MediaError, role: MediaRole) -> ExitCode {
        // A directory, or a name that leads nowhere: there is no such source.
        if role == .source, [EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR].contains(-error.code) { return .noSource }
        return switch (error.reason, role) {
        case (.cancelled, _): .interrupted
        case (.notFound, .source): .noSource
        case (.notPermitted, .source): .notPermitted
        case (.notMedia, _), (.unfinished, _), (.encrypted, _), (.invalidData, .source), (.unsupported, .source),
            (.noRanges, _):
            .badSource
        case (.invalidSettings, _), (.unsupported, _): .usage
        case (.noSpace, _), (.notPermitted, .output), (.alreadyExists, .output), (.notFound, .output): .cannotCreate
        case (.timedOut, _), (.outOfMemory, _): .temporary
        case (.other, .source), (.other, .output): .ioError
        default: .jobFailed
        }
    }

    /// Of a source behind a URL.
    private static func webAdvice(for error: MediaError) -> String? {
        switch error.reason {
        case .notFound: "Check the URL."
        case .notPermitted: "Let the server give it to this machine, or export a copy in a local file."
        case .timedOut: "Look whether the server runs, and at the network to it, then try again."
        case .noRanges: "Let the server give ranges (Accept-Ranges), or export a copy in a local file."
        default: nil
        }
    }

    private static func advice(for error: MediaError, role: MediaRole) -> String {
        if role == .source, [EISDIR, ELOOP, ENAMETOOLONG, ENOTDIR].contains(-error.code) {
            return "Check the path: it has to name a media file."
        }
        return switch (error.reason, role) {
        case (.notFound, .source): "Check the path."
        case (.notFound, .output): "Create the target directory first."
        case (.notMedia, _): "Name a media file that libavformat can read; `weft probe` shows what it sees."
        case (.unfinished, _):
            "Copy it whole from where it comes from, or let a repair tool write its index anew; nothing can be found in it without."
        case (.encrypted, _): "Decrypt the file first; Weft holds no keys."
        case (.notPermitted, .source): "Give yourself read permission on it."
        case (.notPermitted, .output): "Choose a target you may write to."
        case (.noSpace, _): "Free some space and run the same command with --resume."
        case (.invalidData, .source): "The file is damaged; `weft probe` shows what can be read."
        case (.unsupported, .source): "This build of FFmpeg cannot read it."
        case (.unsupported, .output): "Choose another container, or other codecs for it."
        case (.unsupported, _) where error.boundary == .filter: "Choose another filter, or other values for it."
        case (.unsupported, _): "Choose another encoder; `weft capabilities` lists them."
        case (.invalidSettings, _): "Correct the setting named above; `weft export --help` lists them."
        case (.alreadyExists, _): "Pass --overwrite to replace it."
        case (.outOfMemory, _): "Use fewer workers or a machine with more memory."
        case (.timedOut, _): "Check the network or the mount, then try again."
        case (.cancelled, _): "Run the same command with --resume to go on."
        default:
            role == .encode
                ? "See the codec's words; another encoder option may help." : "Check the disk, then try again."
        }
    }
}

extension Failure {
    /// The user asked to stop.
    package static let interrupted = Failure(
        .cancelled, "Stopped as asked; finished segments are kept.",
        advice: "Run the same command with --resume to go on.",
        retry: .retry, fault: .environment, exitCode: .interrupted)
}
