import Foundation
import Testing

/// An nginx of a test's own, on a free port of the loopback interface, with a folder that it serves in ranges.
final class WebServer {
    let folder: String
    private let configuration: String
    private let log: String
    private(set) var port: UInt16 = 0
    private var process: Process?
    private static let program = "/usr/sbin/nginx"

    /// - Returns: `nil`, with a line that says "skipped", where nginx is not installed.
    init?(_ place: Workplace) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.program) else {
            print("skipped: there is no nginx")
            return nil
        }
        folder = place.file("www")
        configuration = place.file("nginx.conf")
        log = place.file("nginx.log")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try Self.freePort()
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(place.file("nginx-\($0)"));" }.joined(separator: " ")
        // The folder of a test belongs to whoever runs it, and so must the server's processes.
        let user = getuid() == 0 ? "user root; " : ""
        let text = """
            \(user)daemon off; master_process off; pid \(place.file("nginx.pid")); error_log \(place.file("nginx.err"));
            events { worker_connections 64; }
            http { log_format sizes '$status $body_bytes_sent $request_uri $http_range';
              access_log \(log) sizes; \(scratch)
              server { listen 127.0.0.1:\(port) sndbuf=64k; root \(folder);
                location /forbidden { return 403; } location /broken { return 503; }
                location /whole/ { alias \(folder)/; max_ranges 0; } } }
            """
        try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        try start()
    }

    deinit { stop() }

    func url(_ name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }
    func file(_ name: String) -> String { folder + "/" + name }

    func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["-c", configuration, "-e", "/dev/null"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        let deadline = Date(timeIntervalSinceNow: 10)
        while !Self.answers(port) {
            try #require(Date() < deadline && process.isRunning, "nginx does not start")
            usleep(20_000)
        }
    }

    func stop() {
        guard let process, process.isRunning else { return }
        // Nothing milder: it keeps the signals blocked that are so in the thread that starts it, and as one process unblocks none.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops it in the middle of whatever it does: connections stay, and nothing comes over them.
    func pause(_ isPaused: Bool = true) {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, isPaused ? SIGSTOP : SIGCONT)
    }

    struct Request {
        var status: Int
        /// Bytes of the answer that went into the connection, which may have been closed before they were all read.
        var bytes: Int
        var path: String
        var range: String
    }

    /// What was asked for so far.
    func requests() throws -> [Request] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let status = Int(words[0]), let bytes = Int(words[1]) else { return nil }
            return Request(status: status, bytes: bytes, path: String(words[2]), range: String(words[3]))
        }
    }

    private static func socketAddress(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    private static func answers(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = socketAddress(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = socketAddress(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }
}
