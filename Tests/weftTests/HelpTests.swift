import Testing

@testable import weft

@Suite("Help, completions and manual")
struct HelpTests {
    @Test(
        "The help of a command covers every option, with its value, and an example",
        arguments: OptionTable.commands.map(\.name))
    func coverage(name: String) throws {
        let command = try #require(OptionTable.command(named: name))
        let text = Help.text(of: command)
        for option in command.allOptions where !option.isHidden {
            #expect(text.contains(Help.label(of: option)))
        }
        for operand in command.operands { #expect(text.contains(operand.name)) }
        #expect(text.contains("Examples\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("Every example is a command line that parses")
    func examples() throws {
        for command in OptionTable.commands {
            for example in command.examples where example.line.hasPrefix("weft ") {
                let words = example.line.split(separator: " ").dropFirst().prefix { $0 != "|" && $0 != ">" }
                #expect(throws: Never.self) { try Parser.parse(words.map(String.init)) }
            }
        }
    }

    @Test("The overview lists what is shown and nothing that is hidden")
    func overview() {
        for command in OptionTable.commands {
            #expect(Help.overview.contains("  \(command.name) ") == !command.isHidden)
        }
    }

    @Test("Names and letters are unique within a command")
    func unique() {
        for command in OptionTable.commands {
            let names = command.allOptions.map(\.name), letters = command.allOptions.compactMap(\.letter)
            #expect(Set(names).count == names.count)
            #expect(Set(letters).count == letters.count)
        }
    }

    @Test("Completions hold every command, every shown option and the presets", arguments: Completions.Shell.allCases)
    func completions(shell: Completions.Shell) {
        let script = Completions(presets: ["web-h264"]).script(for: shell)
        for command in OptionTable.shownCommands {
            #expect(script.contains(command.name))
            for option in command.allOptions where !option.isHidden {
                #expect(script.contains(shell == .fish ? "-l \(option.name)" : "--\(option.name)"))
            }
        }
        #expect(script.contains("web-h264"))
        #expect(!script.contains("--incarnation"))
    }

    @Test("The manual explains every shown option and every exit code")
    func manual() {
        let page = ManualPage.text
        for command in OptionTable.shownCommands {
            for option in command.allOptions where !option.isHidden {
                #expect(page.contains(ManualPage.escape("--" + option.name)))
            }
        }
        for code in ["64", "65", "66", "69", "73", "74", "75", "77", "78", "130"] {
            #expect(page.contains(".B \(code)\n"))
        }
    }
}
