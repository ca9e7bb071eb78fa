import Foundation
import Support

/// `FaultRelay LISTEN:PORT SERVER:PORT [SEED]`: a relay for benchmarks, told what to do by lines on its standard input.
///
///     delay SECONDS · corrupt N (one byte in N; 0 for none) · rate BYTES (a second; 0 for all)
///     stall both|toServer|toClient|none · reset · tally
@main
enum FaultRelay {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count >= 3, let here = place(words[1]), let there = place(words[2]) else {
            FileHandle.standardError.write(Data("usage: FaultRelay LISTEN:PORT SERVER:PORT [SEED]\n".utf8))
            exit(64)
        }
        let seed = words.count > 3 ? UInt64(words[3]) ?? 1 : 1
        let relay = try TCPRelay(
            listen: here.host, port: here.port, server: there.host, serverPort: there.port, seed: seed)
        say("\(relay.port)")
        while let line = readLine() { obey(line.split(separator: " ").map(String.init), relay) }
        relay.stop()
    }

    private static func obey(_ words: [String], _ relay: TCPRelay) {
        let number = words.count > 1 ? Double(words[1]) : nil
        switch (words.first, number) {
        case ("delay", let seconds?): relay.conditions.delay = seconds
        case ("corrupt", let count?): relay.conditions.corruptsOneIn = count > 0 ? Int(count) : nil
        case ("rate", let rate?): relay.conditions.rate = rate > 0 ? rate : nil
        case ("stall", _):
            let all = TCPRelay.Direction.allCases
            relay.conditions.stalled = Set(
                all.filter { words.dropFirst().contains("both") || words.contains($0.rawValue) })
        case ("reset", _): relay.reset()
        case ("tally", _): break
        default: return say("? \(words.joined(separator: " "))")
        }
        let tally = relay.tally
        say("\(tally.connections) connections, \(tally.bytes) bytes, \(tally.alteredBytes) altered")
    }

    private static func place(_ text: String) -> (host: String, port: UInt16)? {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let port = UInt16(parts[1]) else { return nil }
        return (String(parts[0]), port)
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
