import Synchronization
import Testing

@testable import weft

@Suite("Command line")
struct ParserTests {
    @Test("Options may stand before, between and after operands")
    func permutation() throws {
        let invocation = try Parser.parse(["export", "--quality", "20", "a.mp4", "--workers=2", "b.mp4", "-y"])
        #expect(invocation.operands == ["a.mp4", "b.mp4"])
        #expect(invocation.value(of: "quality") == "20")
        #expect(invocation.value(of: "workers") == "2")
        #expect(invocation.has("overwrite"))
    }

    @Test("After -- every word is an operand")
    func doubleDash() throws {
        let invocation = try Parser.parse(["export", "--", "--odd.mp4", "-o"])
        #expect(invocation.operands == ["--odd.mp4", "-o"])
    }

    @Test("Letters may be bundled and carry their value")
    func bundles() throws {
        let invocation = try Parser.parse(["export", "a", "b", "-yq20", "-cav1"])
        #expect(invocation.has("overwrite"))
        #expect(invocation.value(of: "quality") == "20")
        #expect(invocation.value(of: "video-codec") == "av1")
    }

    @Test("An unambiguous beginning of an option is enough")
    func abbreviation() throws {
        #expect(try Parser.parse(["export", "a", "b", "--qua", "3"]).value(of: "quality") == "3")
    }

    @Test("A repeatable option keeps every value, another keeps the last")
    func repetition() throws {
        let invocation = try Parser.parse(
            ["export", "a", "b", "-o", "preset=slow", "-o", "tune=film", "-q", "1", "-q", "2"])
        #expect(invocation.options["encoder-option"] == ["preset=slow", "tune=film"])
        #expect(invocation.options["quality"] == ["2"])
    }

    @Test(
        "What cannot be understood is named, with the nearest known word",
        arguments: [
            (["export", "a", "b", "--qualty", "3"], "unknown option '--qualty'. Did you mean '--quality'?"),
            (["export", "a", "b", "--quality"], "--quality needs a value: --quality N."),
            (["export", "a", "b", "-q"], "--quality needs a value: --quality N."),
            (["export", "a", "b", "--json=1"], "--json takes no value."),
            (
                ["export", "a", "b", "--aud", "aac"],
                "'--aud' could be --audio, --audio-bitrate, --audio-map, --audio-language."
            ),
            (["export", "a", "b", "-Z"], "unknown option '-Z'."),
            (["export", "a", "b", "-yZ"], "unknown option '-Z'."),
            (["export", "a"], "DST is missing."),
            (["export"], "SRC and DST are missing."),
            (["export", "a", "b", "c"], "'c' is one argument too many."),
            (["export", "", "b"], "SRC is empty."),
            (["expotr", "a"], "there is no command 'expotr'. Did you mean 'export'?"),
            (["--json", "probe"], "a command comes first, then its options; '--json' is none."),
            (["completions", "tcsh"], "'tcsh' is not one of bash, zsh, fish."),
            (
                ["export", "a", "b", "--audio", "opsu"],
                "--audio is one of copy, aac, opus, flac, none; 'opsu' is not. Did you mean 'opus'?"
            ),
        ])
    func complaints(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try Parser.parse(words) }
        #expect(error?.message == message)
    }

    @Test("A missing operand does not keep the help from showing")
    func helpWins() throws {
        #expect(try Parser.parse(["export", "--help"]).has("help"))
    }

    @Test("Parsing from several threads at once keeps getopt's global state apart")
    func concurrency() async throws {
        let values = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let words = ["export", "a\(number)", "--quality", "\(number)", "b\(number)"]
                    let invocation = try Parser.parse(words)
                    return invocation.operands == ["a\(number)", "b\(number)"]
                        && invocation.value(of: "quality") == "\(number)"
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values.count == 64 && values.allSatisfy(\.self))
    }
}

@Suite("Exit codes")
struct ExitCodeTests {
    @Test("A bad command line ends with 64, a bad variable with 78, help and version with 0")
    func codes() async {
        let bad = await Weft.run(["export", "a", "b", "--bitrate", "much"], environment: [:])
        #expect(bad == .usage)
        let variable = await Weft.run(["export", "a", "b"], environment: ["WEFT_BITRATE": "much"])
        #expect(variable == .badConfiguration)
        let preset = await Weft.run(["export", "a", "b", "--preset", "/no/such.json5"], environment: [:])
        #expect(preset == .badConfiguration)
        let none = await Weft.run([], environment: [:])
        #expect(none == .usage)
        let help = await Weft.run(["plan", "--help"], environment: [:])
        #expect(help == .done)
        let version = await Weft.run(["--version"], environment: [:])
        #expect(version == .done)
    }
}

@Suite("Interruption")
struct InterruptionTests {
    @Test("The first request runs every action once, and a later action at once")
    func actions() {
        let interruption = Interruption()
        let calls = Atomic<Int>(0)
        interruption.onRequest { calls.add(1, ordering: .relaxed) }
        interruption.onRequest { calls.add(10, ordering: .relaxed) }
        #expect(!interruption.isRequested && calls.load(ordering: .relaxed) == 0)
        interruption.request()
        interruption.request()
        #expect(interruption.isRequested && calls.load(ordering: .relaxed) == 11)
        interruption.onRequest { calls.add(100, ordering: .relaxed) }
        #expect(calls.load(ordering: .relaxed) == 111)
    }
}
