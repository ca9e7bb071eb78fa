import ClusterProtocol
import Foundation
import MediaTime
import Testing

@testable import weft

private let busy = ExportProgress(
    stage: .encoding, framesDone: 123_456, framesTotal: 260_000, secondsDone: 5143.5, secondsTotal: 10833.3,
    segmentsDone: 514, segmentsTotal: 1083, slotsBusy: 16, slotsTotal: 16, bytes: 1_234_567_890, elapsed: 512,
    framesPerSecond: 241.3, remaining: 565.9)

@Suite("Progress")
struct ProgressTests {
    @Test("The line fits whatever width there is", arguments: [1, 5, 10, 20, 40, 60, 79, 80, 81, 120, 200])
    func fits(width: Int) {
        for stage in ExportProgress.Stage.allCases {
            for isColoured in [false, true] {
                var progress = busy
                progress.stage = stage
                let text = ProgressLine(isUnicode: true, isColoured: isColoured).bar(progress, width: width)
                #expect(ProgressDisplay.columns(of: text) < max(width, 2))
                #expect(!text.contains("\n"))
            }
        }
    }

    @Test("In 80 columns there are a bar, frames a second, times real time and the time to go")
    func eighty() {
        let text = ProgressLine(isUnicode: false).bar(busy, width: 80)
        #expect(text.contains("####") && text.contains("47 %") && text.contains("241 fps"))
        #expect(text.contains("10x") && text.contains("ETA  9:26"))
    }

    @Test("With room everything is shown")
    func wide() {
        let text = ProgressLine(isUnicode: true).bar(busy, width: 160)
        for part in ["123456/260000 frames", "16/16 slots", "514/1083 segments", "1.2 GB", "10×"] {
            #expect(text.contains(part))
        }
    }

    @Test("Progress of nothing yet and of unknown length is shown without a bar")
    func unknown() {
        let line = ProgressLine(isUnicode: true)
        #expect(line.bar(ExportProgress(), width: 80) == "opening  ETA  -:--")
        var counting = ExportProgress(stage: .indexing, framesDone: 4711)
        counting.framesTotal = nil
        #expect(line.bar(counting, width: 80).contains("4711 frames"))
    }

    @Test("A pipe gets sentences without control characters")
    func pipe() throws {
        let text = try shown(isLive: false) { display in
            display.handle(.progress(busy))
            display.handle(.notice("slot 2 died; \u{1B}[2Jsegment 5 runs again"))
        }
        #expect(text.contains("weft: encoding 47 %, 123456 of 260000 frames"))
        #expect(text.contains("weft: slot 2 died;"))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    @Test("A terminal is left with no bar on it")
    func live() throws {
        let text = try shown(isLive: true) { $0.handle(.progress(busy)) }
        #expect(text.contains("encoding"))
        #expect(text.hasSuffix("\r\u{1B}[J"))
        #expect(!text.contains("\n"))
    }

    @Test("A line that a narrower terminal has wrapped is erased whole")
    func resize() {
        #expect(ProgressDisplay.eraser(columns: 79, width: 80) == "\r\u{1B}[J")
        #expect(ProgressDisplay.eraser(columns: 79, width: 40) == "\r\u{1B}[1A\u{1B}[J")
        #expect(ProgressDisplay.eraser(columns: 120, width: 40) == "\r\u{1B}[2A\u{1B}[J")
    }

    /// What a display writes until something of the events has been drawn and it is finished.
    private func shown(isLive: Bool, _ events: (ProgressDisplay) -> Void) throws -> String {
        let pipe = Pipe()
        var style = TerminalStyle(isTerminal: isLive, environment: ["TERM": "xterm", "NO_COLOR": "1"])
        style.isUnicode = true
        let display = ProgressDisplay(
            stream: StandardStream(descriptor: pipe.fileHandleForWriting.fileDescriptor), style: style, isQuiet: false,
            plainInterval: 0.01)
        display.start()
        events(display)
        var data = Data()
        while !String(decoding: data, as: UTF8.self).contains("encoding") {
            data += pipe.fileHandleForReading.availableData
        }
        display.finish()
        try pipe.fileHandleForWriting.close()
        data += try pipe.fileHandleForReading.readToEnd() ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

@Suite("Terminal style")
struct TerminalStyleTests {
    @Test("NO_COLOR, TERM=dumb and pipes are honoured")
    func environment() {
        #expect(TerminalStyle(isTerminal: true, environment: ["TERM": "xterm"]).isColoured)
        #expect(!TerminalStyle(isTerminal: true, environment: ["TERM": "xterm", "NO_COLOR": "1"]).isColoured)
        #expect(TerminalStyle(isTerminal: true, environment: ["TERM": "xterm", "NO_COLOR": "1"]).isLive)
        #expect(!TerminalStyle(isTerminal: true, environment: ["TERM": "dumb"]).isLive)
        #expect(!TerminalStyle(isTerminal: false, environment: ["TERM": "xterm"]).isLive)
        #expect(TerminalStyle(isTerminal: true, environment: ["LANG": "de_DE.UTF-8"]).isUnicode)
        #expect(!TerminalStyle(isTerminal: true, environment: ["LC_ALL": "C", "LANG": "de_DE.UTF-8"]).isUnicode)
    }
}

@Suite("Text and JSON")
struct TextTests {
    @Test("A failure is one block that says what, where, whose fault and what to do")
    func failure() {
        let failure = Failure(
            .encoder, "libx264 refused its settings.", advice: "Correct --encoder-option.", fault: .settings, code: -22,
            log: ["[libx264] bad \u{1B}[31mvalue", "second"], exitCode: .usage)
        let style = TerminalStyle(isTerminal: false, environment: [:])
        #expect(
            FailureBlock(failure: failure, style: style).text == """
                weft: libx264 refused its settings.
                  where  encoder
                  fault  the settings
                  again  will not work as it is
                  to do  Correct --encoder-option.
                  code   -22
                  codec  [libx264] bad  [31mvalue
                         second

                """)
    }

    @Test("Columns are aligned and empty ones left out")
    func table() {
        var table = TextTable([.init("n", .right), .init("empty"), .init("name"), .init("x", .right)])
        table.add(["1", "", "a", "10"])
        table.add(["22", "", "long\nname"])
        #expect(table.text == " n  name        x\n 1  a          10\n22  long name\n")
        #expect(TextTable([.init("n")]).text.isEmpty)
    }

    @Test("Clocks and bytes read as people write them")
    func wording() {
        #expect(Wording.clock(3723.4) == "1:02:03")
        #expect(Wording.clock(59.6) == "1:00")
        #expect(Wording.clock(12.0005, decimals: 3) == "0:12.001")
        #expect(Wording.clock(-0.5, decimals: 1) == "-0:00.5")
        #expect(Wording.clock(.infinity) == "?")
        #expect(Wording.bytes(999) == "999 bytes")
        #expect(Wording.bytes(1_234_567) == "1.2 MB")
    }

    @Test("A report's JSON has the agreed keys, sorted, times as value and timescale")
    func report() throws {
        var report = JobReport(
            job: "j", state: .done, output: "/o.mp4", duration: MediaTime(value: 60060, timescale: 30000))
        report.segments = 2
        report.frames = 50
        report.videoHash = "ff"
        report.proof = .init(
            pass: true, sourceFrames: 50, outputFrames: 50, missing: 0, duplicated: 0, maxPTSError: 0)
        let data = try JSONOutput.document(report)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            Set(object.keys).isSuperset(of: [
                "job", "state", "output", "segments", "attempts", "frames", "duration", "wall_seconds",
                "encode_seconds", "slots", "efficiency", "tail_seconds", "warnings", "losses", "video_hash", "proof",
            ]))
        let proof = try #require(object["proof"] as? [String: Any])
        #expect(
            Set(proof.keys).isSuperset(of: [
                "pass", "source_frames", "output_frames", "missing", "duplicated", "max_pts_error",
            ]))
        let duration = try #require(object["duration"] as? [String: Int])
        #expect(duration == ["value": 60060, "timescale": 30000])
        #expect(report.summary(bytes: 1000).contains("proof: holds; 50 source frames, 50 in the output"))
        // Sentences keep to the terminal, where there is one; a program finds them in one line.
        report.losses = [Array(repeating: "word", count: 40).joined(separator: " ")]
        let wrapped = report.summary(bytes: nil, width: 60).split(separator: "\n").filter { $0.contains("word") }
        #expect(wrapped.count > 3 && wrapped.allSatisfy { $0.count < 60 })
        #expect(wrapped.first?.hasPrefix("  lost: word") == true && wrapped.last?.hasPrefix("        word") == true)
        #expect(report.summary(bytes: nil).split(separator: "\n").filter { $0.contains("word") }.count == 1)
    }
}
