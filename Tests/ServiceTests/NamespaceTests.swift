import Foundation
import Testing

/// Machines of their own addresses: network namespaces that hang on one bridge (ip-netns(8)).
@Suite("Several hosts", .serialized)
struct NamespaceTests {
    private static let movie = "firefox-esr--movie_300.mp4"

    @Test(
        "Hosts with keys and addresses of their own give the bytes that one machine gives, also when one of them dies")
    func hosts() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        guard let net = VirtualNetwork(hosts: 3) else {
            print("skipped: network namespaces need root and iproute2")
            return
        }
        let place = try Workplace()
        let reference = try place.reference(source, Workplace.slow)
        for role in ["worker", "client"] {
            try place.weft(
                "keys", "new", "--role", role, "--name", role, "--out", place.file(role + ".key"), "--state",
                place.file("state"))
        }
        let client = place.file("client.key")
        try place.startCoordinator(
            listen: "tcp://\(net.address(0)):7733", "--root", "/", prefix: net.inside(0))
        place.clientPrefix = net.inside(2)
        try place.startWorker("one", key: place.file("worker.key"), prefix: net.inside(1))
        let victim = try place.startWorker("two", key: place.file("worker.key"), prefix: net.inside(2))
        try place.awaitWorkers(2, key: client)
        let outcome = try place.weft(
            ["submit", source, place.file("out.mp4"), "--key", client, "--json"] + Workplace.slow)
        let id = try #require(outcome.json["job"] as? String)
        try place.awaits("work is done") { try place.job(id, key: client)["segments_done"] as? Int ?? 0 >= 2 }
        // `ip netns exec` becomes the program itself.
        kill(victim.processIdentifier, SIGKILL)
        try place.awaits("the job ends") { try place.job(id, key: client)["state"] as? String == "done" }
        #expect(place.bytes("out.mp4") == reference)
    }

    @Test("A link that is down for a while costs no accepted segment, and the slot keeps its lease")
    func link() throws {
        guard let source = Workplace.media(Self.movie) else { return }
        guard let net = VirtualNetwork(hosts: 2) else {
            print("skipped: network namespaces need root and iproute2")
            return
        }
        let place = try Workplace()
        let reference = try place.reference(source, Workplace.slow)
        try place.startCoordinator(listen: "tcp://\(net.address(0)):7733", "--insecure", prefix: net.inside(0))
        place.clientPrefix = net.inside(0)
        try place.startWorker("far", prefix: net.inside(1))
        try place.awaitWorkers(1)
        let id = try place.submit(source, "out.mp4", Workplace.slow)
        try place.awaitSegments(id, atLeast: 2)
        net.setLink(1, up: false)
        usleep(5_000_000)
        net.setLink(1, up: true)
        #expect(try place.awaitEnd(id)["state"] as? String == "done")
        #expect(place.bytes("out.mp4") == reference)
    }
}

/// Namespaces 0, 1, 2… with addresses 10.211.N.1, .2, .3… on one bridge.
final class VirtualNetwork {
    private let name: String
    private let subnet: Int
    private let hosts: Int

    /// - Returns: `nil` where the machine does not allow it.
    init?(hosts: Int) {
        let number = Int(getpid()) % 100_000
        name = "wf\(number)\(Int.random(in: 10...99))"
        subnet = Int.random(in: 1...254)
        self.hosts = hosts
        guard getuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/sbin/ip") else { return nil }
        guard Self.ip("link add \(name) type bridge"), Self.ip("link set \(name) up") else { return nil }
        for host in 0..<hosts {
            let (space, outer) = ("\(name)n\(host)", "\(name)v\(host)")
            guard Self.ip("netns add \(space)"), Self.ip("link add \(outer) type veth peer name eth0 netns \(space)"),
                Self.ip("link set \(outer) master \(name) up"),
                Self.ip("-n \(space) addr add \(address(host))/24 dev eth0"),
                Self.ip("-n \(space) link set eth0 up"), Self.ip("-n \(space) link set lo up")
            else {
                remove()
                return nil
            }
        }
    }

    deinit { remove() }

    private func remove() {
        for host in 0..<hosts { _ = Self.ip("netns del \(name)n\(host)") }
        _ = Self.ip("link del \(name)")
    }

    func address(_ host: Int) -> String { "10.211.\(subnet).\(host + 1)" }

    func inside(_ host: Int) -> [String] { ["/usr/sbin/ip", "netns", "exec", "\(name)n\(host)"] }

    func setLink(_ host: Int, up: Bool) { _ = Self.ip("link set \(name)v\(host) \(up ? "up" : "down")") }

    private static func ip(_ words: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/ip")
        process.arguments = words.split(separator: " ").map(String.init)
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
