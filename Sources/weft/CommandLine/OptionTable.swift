internal import ClusterProtocol
internal import SegmentPlan

/// One option of a command. The table of these drives parsing, the help, the shell completions, the man page, the
/// `WEFT_…` variables and the keys of configuration files.
struct OptionEntry: Sendable {
    enum Group: String, Sendable, CaseIterable {
        /// What the result is. Only these may stand in a preset.
        case result = "What comes out"
        /// How the work is done.
        case work = "How it is done"
        /// What is told about it.
        case output = "What is printed"
    }

    /// What a shell offers for the value.
    enum Completion: Sendable {
        case nothing, file, directory, presets
        /// The only values there are.
        case choices([String])
        /// Some of the values there are.
        case suggestions([String])
    }

    let name: String
    var letter: Character?
    /// The placeholder of the value in the help; `nil` for a flag.
    var value: String?
    let help: String
    var group = Group.work
    var completion = Completion.nothing
    var isRepeatable = false
    var isHidden = false
    /// Whether a `WEFT_…` variable or a configuration file can state it too.
    var isSetting = true

    /// `--audio-bitrate` is `WEFT_AUDIO_BITRATE`.
    var variable: String { "WEFT_" + fileKey.uppercased() }

    /// `--audio-bitrate` is `audio_bitrate`.
    var fileKey: String { name.split(separator: "-").joined(separator: "_") }

    var choices: [String]? {
        if case .choices(let words) = completion { words } else { nil }
    }
}

/// A word of a command line that is no option.
struct OperandEntry: Sendable {
    let name: String
    let help: String
    var completion = OptionEntry.Completion.file
    var isOptional = false
}

/// One command: what it takes, how it is explained, and what runs it.
struct CommandEntry: Sendable {
    struct Example: Sendable {
        let line: String
        let meaning: String
    }

    let name: String
    /// A few words, for the list of commands.
    let summary: String
    /// A paragraph or two, for the command's own help.
    let details: String
    var operands: [OperandEntry] = []
    var options: [OptionEntry] = []
    var examples: [Example] = []
    var isHidden = false
    let run: @Sendable (Invocation) async throws -> ExitCode

    /// The command's own options and those that every command has.
    var allOptions: [OptionEntry] { options + [OptionTable.help] }

    func option(named name: String) -> OptionEntry? {
        allOptions.first { $0.name == name }
    }
}

enum OptionTable {
    /// Every command, in the order the help lists them. A new command is a new line here.
    static let commands: [CommandEntry] = [
        ExportCommand.entry,
        PlanCommand.entry,
        ProbeCommand.entry,
        VerifyCommand.entry,
        CapabilitiesCommand.entry,
        CoordinatorCommand.entry,
        WorkerCommand.entry,
        SubmitCommand.entry,
        JobCommands.jobs,
        JobCommands.job,
        JobCommands.segments,
        JobCommands.workers,
        TopCommand.entry,
        JobCommands.events,
        ControlCommands.retry,
        ControlCommands.cancel,
        ControlCommands.pause,
        ControlCommands.resume,
        ControlCommands.drain,
        KeysCommand.entry,
        CompletionsCommand.entry,
        ManualCommand.entry,
        HelpCommand.entry,
        VersionCommand.entry,
        SlotCommand.entry,
        CheckCommand.entry,
    ]

    static var shownCommands: [CommandEntry] { commands.filter { !$0.isHidden } }

    static func command(named name: String) -> CommandEntry? {
        commands.first { $0.name == name }
    }

    /// Every option that a configuration file may state, of whichever command.
    static var settings: [OptionEntry] {
        var seen = Set<String>()
        return commands.flatMap(\.options).filter { $0.isSetting && seen.insert($0.name).inserted }
    }
}

// MARK: - Options that several commands share

extension OptionTable {
    static let help = OptionEntry(
        name: "help", letter: "h", help: "Show this help.", group: .output, isSetting: false)
    static let json = OptionEntry(
        name: "json", help: "Print one JSON document on standard output, nothing else there.", group: .output)
    static let config = OptionEntry(
        name: "config", value: "FILE",
        help: "Read settings from FILE (JSON5) instead of the user's weft/config.json5.",
        completion: .file, isSetting: false)
    static let start = OptionEntry(
        name: "start", value: "TIME",
        help: "Begin at this source time: seconds (90, 12.5, 30000/1001) or [HH:]MM:SS[.F].", group: .result)
    static let end = OptionEntry(
        name: "end", value: "TIME", help: "Stop before this source time.", group: .result)
    static let segmentDuration = OptionEntry(
        name: "segment-duration", value: "TIME",
        help: "Aim for segments this long; at least 2 seconds. Default 10. It is part of what comes out.",
        group: .result)

    static let splitLongGroups = OptionEntry(
        name: "split-long-gops", value: "WHEN",
        help:
            "Cut inside groups of pictures much longer than a segment, at the price of decoding their beginning again: auto, "
            + "never or always. Default auto: where that adds no more than a tenth to the work. It is part of what comes out.",
        group: .result, completion: .choices(LongGroupSplitting.allCases.map(\.rawValue)))

    /// The options that describe the result: those of `export`, of a submitted job and of a preset.
    static let result: [OptionEntry] = [
        OptionEntry(
            name: "preset", letter: "p", value: "NAME",
            help:
                "Start from a preset: web-h264, archive-hevc, small-av1, prores-edit, sdr-h264, copy, one of yours, or the "
                + "path of a JSON5 file. Other options beat it.",
            group: .result, completion: .presets),
        OptionEntry(
            name: "video-codec", letter: "c", value: "CODEC",
            help: "h264, hevc, av1, vp9, prores, or copy to keep the samples as they are. Default h264; vp9 for .webm.",
            group: .result, completion: .choices(ExportSettings.VideoCodec.allCases.map(\.rawValue))),
        OptionEntry(
            name: "encoder", letter: "e", value: "NAME",
            help: "A libavcodec encoder such as libx264, or auto, hardware or software. Default auto.",
            group: .result,
            completion: .suggestions([
                "auto", "hardware", "software", "libx264", "libx265", "libsvtav1", "libvpx-vp9", "prores_ks",
            ])),
        OptionEntry(
            name: "quality", letter: "q", value: "N",
            help: "Constant quality on the encoder's own scale (crf, qscale); lower is better.", group: .result),
        OptionEntry(
            name: "bitrate", letter: "b", value: "RATE",
            help: "Aim for this many bits a second of video: 4M, 800k, 2500000.", group: .result),
        OptionEntry(
            name: "size", value: "BYTES",
            help: "Aim for this size of the whole file: 700MB, 1GiB, 250000000.", group: .result),
        OptionEntry(
            name: "encoder-option", letter: "o", value: "KEY=VALUE",
            help: "Hand an option to the encoder in its own words (preset=slow). Repeatable.", group: .result,
            isRepeatable: true),
        OptionEntry(
            name: "audio", letter: "a", value: "CODEC",
            help: "copy, aac, opus, flac or none. Default copy.", group: .result,
            completion: .choices(ExportSettings.AudioCodec.allCases.map(\.rawValue))),
        OptionEntry(
            name: "audio-bitrate", value: "RATE",
            help: "Bits a second of encoded audio (aac, opus): 128k.", group: .result),
        OptionEntry(
            name: "audio-map", value: "LIST",
            help:
                "Which tracks of sound, in the order they get: 0,2 (counted among the tracks of sound, from 0) or all. Default all.",
            group: .result, completion: .suggestions(["all", "0"])),
        OptionEntry(
            name: "audio-language", value: "LIST",
            help: "Only sound in these languages, in this order: eng,deu. und stands for tracks that name none.",
            group: .result),
        OptionEntry(
            name: "subtitles", value: "WHICH",
            help: "all or none. Text becomes what DST holds (mov_text, SubRip, WebVTT). Default all.", group: .result,
            completion: .choices(ExportSettings.Subtitles.allCases.map(\.rawValue))),
        OptionEntry(
            name: "filter", letter: "f", value: "GRAPH",
            help: "Pass the picture through this libavfilter chain: scale=1280:-2.", group: .result),
        OptionEntry(
            name: "filter-margin", value: "N",
            help:
                "Give the filters N frames before and after each segment, so that joins do not show. Default: what the filters are known to look at.",
            group: .result),
        OptionEntry(
            name: "deinterlace", value: "WHEN",
            help:
                "off, auto (bwdif where the source is interlaced) or a libavfilter chain. Default off: fields are kept.",
            group: .result, completion: .suggestions(["off", "auto", "bwdif=mode=send_frame", "yadif"])),
        OptionEntry(
            name: "tonemap", value: "TARGET",
            help: "sdr: bring a PQ or HLG picture down to 8-bit BT.709, in linear light.", group: .result,
            completion: .choices(ExportSettings.ToneMapping.allCases.map(\.rawValue))),
        OptionEntry(
            name: "apply-rotation",
            help: "Turn the pixels instead of carrying the rotation: for players and containers that know none.",
            group: .result),
        OptionEntry(
            name: "allow-loss", value: "LIST",
            help: "Go on although these get lost: hdr10plus, dolby-vision. They are named in the report.",
            group: .result,
            completion: .suggestions(ExportSettings.AllowedLoss.allCases.map(\.rawValue)), isRepeatable: true),
        OptionEntry(
            name: "strict",
            help:
                "Take every loss and every damaged place of the source for an error: nothing is written under the final name.",
            group: .result),
        OptionEntry(
            name: "max-damage", value: "AMOUNT",
            help:
                "Stop with exit code 65 when more of the picture is damaged: frames (250), a share (0.5%) or a duration (2s). "
                + "Default: go on, and name every damaged place.",
            group: .result),
        start,
        end,
        segmentDuration,
        splitLongGroups,
    ]
}
