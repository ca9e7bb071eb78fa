import ClusterProtocol
import Foundation
import MediaTime
import Testing

@testable import weft

/// The source tree's own presets and no others.
private let library = PresetLibrary(directories: [
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Config/presets").path
])

private func request(
    _ options: [String], source: String = "/m/a.mov", destination: String = "/m/b.mp4",
    environment: [String: String] = [:]
) throws -> ExportRequest {
    var environment = environment
    if environment["XDG_CONFIG_HOME"] == nil { environment["XDG_CONFIG_HOME"] = "/nonexistent" }
    let invocation = try Parser.parse(["export", source, destination] + options, environment: environment)
    return try ExportRequest(invocation, presets: library)
}

private func temporaryFile(_ text: String) throws -> String {
    let url = FileManager.default.temporaryDirectory.appending(path: "weft-\(UUID().uuidString).json5")
    try Data(text.utf8).write(to: url)
    return url.path
}

@Suite("Export request")
struct ExportRequestTests {
    @Test("Every option arrives in the request")
    func everything() throws {
        let made = try request([
            "--video-codec", "hevc", "--encoder", "libx265", "--bitrate", "4M", "-o", "preset=slow", "-o", "a=b=c",
            "--audio", "opus", "--audio-bitrate", "96k", "--filter", "scale=640:-2", "--start", "1:30", "--end",
            "30000/100", "--segment-duration", "4.5", "--workers", "3", "--threads", "2", "--overwrite", "--resume",
            "--report", "/m/r.json", "--json", "--quiet", "--state", "/m/state", "--stall-limit", "12.5",
            "--coordinator", "tcp://h:1", "--key", "/m/key",
        ])
        #expect(made.source == "/m/a.mov" && made.destination == "/m/b.mp4")
        #expect(made.settings.videoCodec == .hevc && made.settings.encoder == "libx265")
        #expect(made.settings.rate == .bitrate(4_000_000))
        #expect(made.settings.encoderOptions == ["preset": "slow", "a": "b=c"])
        #expect(made.settings.audioCodec == .opus && made.settings.audioBitrate == 96_000)
        #expect(made.settings.filter == "scale=640:-2")
        #expect(made.settings.start == MediaTime(value: 90, timescale: 1))
        #expect(made.settings.end == MediaTime(value: 300, timescale: 1))
        #expect(made.settings.segmentDuration == MediaTime(value: 9, timescale: 2))
        #expect(made.workers == 3 && made.settings.threads == 2 && made.settings.stallSeconds == 12.5)
        #expect(made.overwrite && made.resume && made.json && made.quiet)
        #expect(made.reportPath == "/m/r.json" && made.stateDirectory == "/m/state")
        #expect(made.coordinator == "tcp://h:1" && made.keyFile == "/m/key")
    }

    @Test("Relative paths become absolute, URLs stay")
    func paths() throws {
        let made = try request([], source: "https://host/a.mp4", destination: "b.mp4")
        #expect(made.source == "https://host/a.mp4")
        #expect(made.destination == FileManager.default.currentDirectoryPath + "/b.mp4")
    }

    @Test(
        "The codec follows from what is stated, else from the destination",
        arguments: [
            ([], "/m/b.mp4", .h264), ([], "/m/b.webm", .vp9), (["-e", "libsvtav1"], "/m/b.webm", .av1),
            (["-e", "prores_ks"], "/m/b.mov", .prores), (["-c", "h264"], "/m/b.webm", .h264),
        ] as [([String], String, ExportSettings.VideoCodec)])
    func codecs(options: [String], destination: String, codec: ExportSettings.VideoCodec) throws {
        #expect(try request(options, destination: destination).settings.videoCodec == codec)
    }

    @Test(
        "Values and combinations that cannot be are usage errors",
        arguments: [
            ["--quality", "20", "--bitrate", "4M"], ["--size", "1GB", "--bitrate", "4M"], ["-c", "copy", "-f", "null"],
            ["-c", "copy", "-q", "20"], ["-c", "copy", "-o", "a=b"], ["-e", "libx265", "-c", "h264"],
            ["-c", "copy", "-e", "libx264"], ["--audio", "copy", "--audio-bitrate", "96k"], ["--audio-bitrate", "96k"],
            ["--start", "20", "--end", "10"], ["--start", "soon"], ["--start", "-1"], ["--segment-duration", "1.9"],
            ["--workers", "0"], ["--workers", "many"], ["--threads", "0"], ["--quality", "nan"], ["-o", "preset"],
            ["-o", "=x"], ["--report", "/m/b.mp4"], ["--stall-limit", "0"], ["--filter", ""], ["--end", "0"],
        ])
    func refusals(options: [String]) {
        #expect(throws: UsageError.self) { try request(options) }
    }

    @Test("The destination may not be the source, under whatever name")
    func sameFile() throws {
        #expect(throws: UsageError.self) { try request([], source: "/m/a.mov", destination: "/m/../m/a.mov") }
        let file = try temporaryFile("{}")
        let link = file + ".link.mp4"
        defer { for path in [file, link] { try? FileManager.default.removeItem(atPath: path) } }
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(throws: UsageError.self) { try request([], source: file, destination: link) }
    }
}

@Suite("Layers of settings")
struct SettingLayerTests {
    @Test("Flags beat variables beat the configuration file beat the preset")
    func precedence() throws {
        let file = try temporaryFile("{ preset: 'web-h264', quality: 21, workers: 7, threads: 3 }")
        defer { try? FileManager.default.removeItem(atPath: file) }
        let made = try request(
            ["--config", file, "--workers", "2"], environment: ["WEFT_THREADS": "4", "WEFT_WORKERS": "5"])
        #expect(made.workers == 2)
        #expect(made.settings.threads == 4)
        #expect(made.settings.rate == .quality(21))
        #expect(made.settings.encoderOptions["preset"] == "veryfast")
        #expect(made.settings.audioCodec == .aac)
    }

    @Test("A stronger rate replaces a weaker one of another kind")
    func rates() throws {
        let made = try request(["--preset", "web-h264", "--bitrate", "3M"])
        #expect(made.settings.rate == .bitrate(3_000_000))
        #expect(made.notes.isEmpty)
    }

    @Test("Encoder options are merged key by key")
    func encoderOptions() throws {
        let made = try request(
            ["--preset", "web-h264", "-o", "preset=slow"], environment: ["WEFT_ENCODER_OPTION": "tune=film"])
        #expect(made.settings.encoderOptions == ["preset": "slow", "profile": "high", "tune": "film"])
    }

    @Test("What a preset says to its encoder does not reach another one, and that is said")
    func otherEncoder() throws {
        let made = try request(["--preset", "web-h264", "--video-codec", "av1"])
        #expect(made.settings.videoCodec == .av1 && made.settings.encoder == "auto")
        #expect(made.settings.encoderOptions.isEmpty && made.settings.rate == nil)
        #expect(made.notes.count == 2)
        #expect(try request(["--preset", "web-h264", "--video-codec", "copy"]).settings.filter == nil)
    }

    @Test("A flag that a variable turns off is off, and one it turns on is on")
    func flags() throws {
        #expect(try request([], environment: ["WEFT_OVERWRITE": "yes"]).overwrite)
        #expect(try !request([], environment: ["WEFT_OVERWRITE": "0"]).overwrite)
        #expect(throws: ConfigurationError.self) { try request([], environment: ["WEFT_OVERWRITE": "maybe"]) }
    }

    @Test("A bad variable is bad configuration and is named")
    func badVariable() throws {
        let error = #expect(throws: ConfigurationError.self) { try request([], environment: ["WEFT_BITRATE": "4Q"]) }
        #expect(error?.place == "variable WEFT_BITRATE")
    }

    @Test("The user's own configuration file is read when there is one")
    func userFile() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "weft-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let folder = home.appending(path: "weft")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("{ workers: 9 }".utf8).write(to: folder.appending(path: "config.json5"))
        #expect(try request([], environment: ["XDG_CONFIG_HOME": home.path]).workers == 9)
    }
}

@Suite("Presets")
struct PresetTests {
    @Test(
        "The source tree has the five presets, and each makes a request",
        arguments: [
            ("web-h264", "/m/b.mp4", .h264), ("archive-hevc", "/m/b.mkv", .hevc), ("small-av1", "/m/b.mkv", .av1),
            ("prores-edit", "/m/b.mov", .prores), ("copy", "/m/b.mp4", .copy),
        ] as [(String, String, ExportSettings.VideoCodec)])
    func shipped(name: String, destination: String, codec: ExportSettings.VideoCodec) throws {
        #expect(library.names.contains(name))
        #expect(try !library.preset(name).summary.isEmpty)
        #expect(try request(["--preset", name], destination: destination).settings.videoCodec == codec)
    }

    @Test("An unknown key is refused with the nearest known one")
    func unknownKey() {
        let error = #expect(throws: ConfigurationError.self) {
            try SettingsFile(Data("{ qualty: 20 }".utf8), path: "p.json5", kind: .preset)
        }
        #expect(error?.message == "unknown key 'qualty'. Did you mean 'quality'?")
    }

    @Test("A preset may not say how the work is done", arguments: ["workers: 3", "start: 4", "preset: 'copy'"])
    func foreignKey(text: String) {
        #expect(throws: ConfigurationError.self) {
            try SettingsFile(Data("{ \(text) }".utf8), path: "p.json5", kind: .preset)
        }
    }

    @Test(
        "What is not JSON5, or has a value of the wrong kind, is refused",
        arguments: [
            "", "[]", "{ quality: 20", "{ quality: [1, 2] }", "{ quality: {} }", "{ overwrite: 3 }",
            "{ encoder_options: true }",
        ])
    func malformed(text: String) {
        #expect(throws: ConfigurationError.self) {
            try SettingsFile(Data(text.utf8), path: "p.json5", kind: .configuration)
        }
    }

    @Test("An unknown preset names the nearest and all there are")
    func unknownPreset() {
        let error = #expect(throws: ConfigurationError.self) { try library.preset("web-h265") }
        #expect(error?.message.contains("Did you mean 'web-h264'?") == true)
        #expect(error?.message.contains("small-av1") == true)
    }

    @Test("Comments, trailing commas and single quotes are JSON5")
    func dialect() throws {
        let text =
            "// why\n{ 'quality': +18.5, encoder_options: { preset: 'slow', crf: 3, }, /* x */ audio: \"none\", }"
        let file = try SettingsFile(Data(text.utf8), path: "p.json5", kind: .preset)
        #expect(file.layer.values["quality"] == ["18.5"])
        #expect(file.layer.values["encoder-option"] == ["crf=3", "preset=slow"])
        #expect(file.layer.values["audio"] == ["none"])
    }

    @Test("The example configuration file is a valid one")
    func example() throws {
        let folder = try #require(library.directories.first)
        _ = try SettingsFile(path: folder + "/../config.example.json5", kind: .configuration)
    }
}
