internal import ClusterProtocol
internal import Coordinator
internal import Foundation

/// How a command reaches the coordinator.
struct ClusterRequest: Sendable {
    var address: String
    var keyFile: String?

    static let options: [OptionEntry] = [
        OptionEntry(
            name: "coordinator", value: "URL",
            help: "The coordinator: tcp://HOST:PORT or ipc://PATH. Default \(CoordinatorClient.defaultAddress)."),
        OptionEntry(
            name: "key", value: "FILE", help: "The key to show it. Loopback and ipc need none.", completion: .file),
        OptionTable.config,
    ]

    init(_ reader: SettingReader) {
        address = reader.text("coordinator") ?? CoordinatorClient.defaultAddress
        keyFile = reader.text("key").map(ExportRequest.location)
    }

    init(_ invocation: Invocation) throws { self.init(try Self.reader(invocation)) }

    /// Flags, variables and the configuration file.
    static func reader(_ invocation: Invocation) throws -> SettingReader {
        let layers = try ConfigurationLayers.read(
            for: invocation, presets: PresetLibrary(environment: invocation.environment))
        return SettingReader(layer: SettingStack(layers).merged, command: invocation.command.name)
    }

    /// Connects, and calls `body` on a thread that may block.
    func withClient<Value: Sendable>(
        _ body: @escaping @Sendable (CoordinatorClient) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (address, keyFile) = (address, keyFile)
        return try await BlockingThread.run("client") { () throws(Failure) in
            let security = try keyFile.map { path throws(Failure) in try ClusterKey.security(path) }
            return try body(try CoordinatorClient(address: address, security: security))
        }
    }
}

extension CoordinatorClient {
    func jobs() throws(Failure) -> [JobReport] {
        try ask { .query(Query(request: $0, subject: .jobs)) }.flatMap(\.jobRows)
    }

    func job(_ id: String) throws(Failure) -> JobReport {
        let rows = try ask { .query(Query(request: $0, subject: .job, job: id)) }.flatMap(\.jobRows)
        guard let row = rows.first else {
            throw Failure(
                .resources, "There is no job \(id).", advice: "`weft jobs` lists them.", fault: .settings,
                exitCode: .usage)
        }
        return row
    }

    func segments(_ id: String, failed: Bool) throws(Failure) -> [SegmentReport] {
        try ask { .query(Query(request: $0, subject: .segments, job: id, failed: failed)) }.flatMap(\.segmentRows)
    }

    func workers() throws(Failure) -> [WorkerReport] {
        try ask { .query(Query(request: $0, subject: .workers)) }.flatMap(\.workerRows)
    }
}

extension ClientReply {
    /// What the coordinator adds to its "done".
    var note: String? { if case .done(let done) = self { done.note } else { nil } }
    var jobRows: [JobReport] { if case .jobs(let rows) = self { rows.rows } else { [] } }
    var segmentRows: [SegmentReport] { if case .segments(let rows) = self { rows.rows } else { [] } }
    var workerRows: [WorkerReport] { if case .workers(let rows) = self { rows.rows } else { [] } }
    var eventRows: [EventReport] { if case .events(let rows) = self { rows.rows } else { [] } }
}

/// The name of a job on a command line.
enum JobName {
    static func check(_ invocation: Invocation) throws -> String {
        let name = invocation.operands[0]
        guard LeaseName.isValidJob(name) else {
            throw UsageError(invocation.command.name, "'\(name)' is no job's id; `weft jobs` lists them.")
        }
        return name
    }
}
