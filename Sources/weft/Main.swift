internal import ClusterProtocol
internal import Foundation

/// The program: takes the command line apart, runs the command, and turns whatever goes wrong into words and a code.
@main
enum Weft {
    static func main() async {
        // A reader that goes away (`weft plan … | head`) shows in the return value of a write.
        signal(SIGPIPE, SIG_IGN)
        // Takes its descriptor now, before any encoder is opened.
        _ = StandardStream.error
        let code = await run(
            Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        exit(code.rawValue)
    }

    static func run(_ arguments: [String], environment: [String: String]) async -> ExitCode {
        // Also where the command line cannot be taken apart: whoever reads JSON gets its document.
        var wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
        do {
            let invocation = try Parser.parse(arguments, environment: environment)
            if invocation.has("help") {
                StandardStream.output.write(Help.text(of: invocation.command))
                return .done
            }
            wantsJSON = invocation.has("json")
            return try await invocation.command.run(invocation)
        } catch {
            return report(error, json: wantsJSON, environment: environment)
        }
    }

    /// Says on standard error what went wrong; a program that asked for JSON gets the failure as its document too.
    static func report(_ error: any Error, json: Bool, environment: [String: String]) -> ExitCode {
        switch error {
        case let error as UsageError:
            StandardStream.error.write(error.text)
            if json { print(Failure(.resources, error.message, fault: .settings, exitCode: .usage)) }
            return .usage
        case let error as ConfigurationError:
            StandardStream.error.write(error.text)
            if json {
                print(
                    Failure(
                        .resources, "\(error.place): \(error.message)", fault: .settings, exitCode: .badConfiguration))
            }
            return .badConfiguration
        default:
            let failure = error as? Failure ?? Failure(unexpected: error)
            let style = TerminalStyle(isTerminal: StandardStream.error.isTerminal, environment: environment)
            StandardStream.error.write(FailureBlock(failure: failure, style: style).text)
            if json { print(failure) }
            return failure.exitCode
        }
    }

    private static func print(_ failure: Failure) { try? JSONOutput.print(["failure": failure]) }
}

extension Failure {
    /// An error that no boundary turned into a failure: the system's own, from writing a report for instance.
    init(unexpected error: any Error) {
        let cause = (error as NSError)
        let isCocoa = cause.domain == NSCocoaErrorDomain || cause.domain == NSPOSIXErrorDomain
        self.init(
            .storage, isCocoa ? cause.localizedDescription : "\(error)", retry: .retry, fault: .environment,
            code: Int32(truncatingIfNeeded: cause.code), exitCode: .ioError)
    }
}
