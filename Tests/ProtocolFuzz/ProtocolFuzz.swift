import AllocationCount
import Foundation
import Support

/// `ProtocolFuzz [--seed N] [--rounds N] [--round N]`: captured messages, damaged, through every parser of the wire; what each allocates
/// is counted. `--round` does one round again.
///
/// `ProtocolFuzz --connect tcp://HOST:PORT [--seed N] [--rounds N]`: the same messages sent to a coordinator.
@main
enum ProtocolFuzz {
    static func main() throws {
        let seed = UInt64(number("--seed") ?? 1)
        let rounds = number("--rounds") ?? 20_000
        let corpus = try CapturedMessage.all()
        if let address = word("--connect") {
            return try Storm(address: address, corpus: corpus, seed: seed).run(rounds: rounds)
        }
        var parsers = ParserRounds(corpus: corpus, seed: seed)
        let first = number("--round") ?? 0
        let range = number("--round") == nil ? 0..<rounds : first..<first + 1
        crash_note("crashed with --seed \(seed) --round ", UInt64(first))
        let began = ContinuousClock.now
        for round in range {
            crash_note("", UInt64(round))
            do {
                try parsers.run(round: UInt64(round))
            } catch {
                print("--seed \(seed) --round \(round): \(error)")
                exit(1)
            }
        }
        print("\(parsers.tally), seed \(seed), \(ContinuousClock.now - began)")
    }

    private static func word(_ name: String) -> String? {
        let words = CommandLine.arguments
        guard let place = words.firstIndex(of: name), place + 1 < words.count else { return nil }
        return words[place + 1]
    }

    private static func number(_ name: String) -> Int? { word(name).flatMap { Int($0) } }
}
