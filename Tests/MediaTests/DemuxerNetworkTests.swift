import Foundation
import Media
import MediaTime
import Testing

@Suite struct DemuxerNetworkTests {
    /// A socket that listens on a free port of the loopback interface.
    private func listen() throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && Glibc.listen(listener, 4) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(bound)
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    /// Answers every request with the file where its path ends with the file's name, else with 404; no ranges.
    private func withServer(of path: String, _ body: (String) throws -> Void) throws {
        let (listener, port) = try listen()
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let name = URL(fileURLWithPath: path).lastPathComponent
        let thread = Thread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 4096)
                let count = max(0, recv(client, &request, request.count, 0))
                let line = String(decoding: request[..<count].prefix { $0 != 13 }, as: UTF8.self)
                let found = line.contains(name)
                var answer = Data(
                    (found
                        ? "HTTP/1.1 200 OK\r\nContent-Length: \(data.count)\r\nConnection: close\r\n\r\n"
                        : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").utf8)
                if found { answer += data }
                answer.withUnsafeBytes { bytes in
                    var sent = 0
                    while sent < bytes.count {
                        let part = send(client, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                        guard part > 0 else { break }
                        sent += part
                    }
                }
                close(client)
            }
        }
        thread.start()
        defer {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
        try body("http://127.0.0.1:\(port)")
    }

    @Test("a URL is read like a file; what the server does not have is not found")
    func http() throws {
        guard let path = ContainerFixtures.path("shaka-player--v.mp4") else { return }
        try withServer(of: path) { address in
            let demuxer = try Demuxer(location: address + "/shaka-player--v.mp4")
            let expected = try ContainerFixtures.samples(of: Demuxer(location: path))
            let samples = try ContainerFixtures.samples(of: demuxer)
            #expect(samples.map(\.pts) == expected.map(\.pts))
            #expect(!demuxer.isSeekable)
            #expect(ContainerFixtures.reason { _ = try Demuxer(location: address + "/none.mp4") } == .notFound)
        }
    }

    @Test("a server that accepts and says nothing is given up at the deadline, or at once by the flag")
    func silentServer() throws {
        let (listener, port) = try listen()
        defer { close(listener) }
        let location = "http://127.0.0.1:\(port)/film.mp4"
        let interrupt = InterruptFlag()
        interrupt.setDeadline(in: .milliseconds(300))
        #expect(ContainerFixtures.reason { _ = try Demuxer(location: location, interrupt: interrupt) } == .timedOut)
        interrupt.interrupt()
        #expect(ContainerFixtures.reason { _ = try Demuxer(location: location, interrupt: interrupt) } == .cancelled)
    }
}
