import Foundation
import Support
import Testing

/// The whole program on real processes. One after another: they measure times, and each fills the machine.
@Suite(.serialized)
struct ClusterTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    /// The slots' work at a pace of its own, so that a fault falls into its middle on any machine.
    static let paced = ["--segment-duration", "2", "-o", "preset=ultrafast", "--filter", "realtime"]
    static let quick = ["--segment-duration", "2", "-o", "preset=ultrafast"]

    // MARK: Faults of slots

    @Test("One, two and five slots give the same bytes")
    func equalBytes() throws {
        try workshop.makeClip(seconds: 20)
        for slots in ["1", "2", "5"] {
            let ending = try RunningExport.run(workshop, to: "\(slots).mp4", Self.quick + ["--workers", slots])
            #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        }
        #expect(try workshop.bytes("1.mp4") == workshop.bytes("2.mp4"))
        #expect(try workshop.bytes("1.mp4") == workshop.bytes("5.mp4"))
        #expect(workshop.leftovers.isEmpty && workshop.jobs.isEmpty)
    }

    @Test("A killed and a stopped slot are noticed and replaced, and change no byte")
    func killedAndStopped() throws {
        try workshop.makeClip(seconds: 48)
        let whole = try RunningExport.run(
            workshop, to: "whole.mp4", Self.quick + ["--filter", "null", "--workers", "2"])
        #expect(whole.code == 0)
        let export = try RunningExport(workshop, to: "faulty.mp4", Self.paced + ["--workers", "3"])
        try awaited("work in every slot") { workshop.spooled.count >= 3 ? true : nil }
        let slots = export.slots
        #expect(slots.count == 3)
        kill(slots[0], SIGKILL)
        kill(slots[1], SIGSTOP)
        let ending = try export.ending()
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(ending.warnings.contains { $0.contains("ended by signal 9") }, "\(ending.warnings)")
        #expect(ending.warnings.contains { $0.contains("hung and was killed") }, "\(ending.warnings)")
        #expect(ending.words.contains("was replaced"))
        #expect(ending.attempts >= ending.segments + 2)
        #expect(try workshop.bytes("faulty.mp4") == workshop.bytes("whole.mp4"))
        #expect(!slots.contains(where: ProcessTable.isAlive))
    }

    @Test("A slot that lives but makes no frame is killed after the stall limit, and the job says which segment hangs")
    func hungFilter() throws {
        try workshop.makeClip(seconds: 4)
        // After a second, so that the pictures the plan looks at pass.
        let filter = "sendcmd=c='1 realtime speed 0.0001',realtime=limit=1000"
        let endless = ["--filter", filter, "--stall-limit", "1", "--workers", "1"]
        let ending = try RunningExport.run(workshop, to: "never.mp4", endless)
        #expect(ending.code == 65)
        #expect(ending.words.contains("hung and was killed"))
        #expect((ending.failure["message"] as? String)?.contains("Segment 0") == true, "\(ending.failure)")
        #expect((ending.failure["advice"] as? String)?.contains("--resume") == true)
        #expect(!FileManager.default.fileExists(atPath: workshop.file("never.mp4")) && workshop.leftovers.isEmpty)
    }

    @Test(
        "A segment that crashes the decoder is tried once more, then told as the source's fault with 65, and the rest is kept"
    )
    func crashingDecoder() throws {
        guard let library = try CrashingDecoder.make(in: workshop.path) else { return }
        try workshop.makeClip(seconds: 8)
        // The picture at five seconds; the clip counts 12,800 ticks a second.
        let shell = "export LD_PRELOAD=\(library) CRASH_AT=64000"
        let options = Self.quick + ["--workers", "2"]
        let ending = try RunningExport.run(workshop, to: "out.mp4", options, shell: shell)
        #expect(ending.code == 65, "\(ending.words)")
        #expect(ending.failure["fault"] as? String == "source", "\(ending.failure)")
        #expect((ending.failure["message"] as? String)?.contains("2 workers crashed") == true, "\(ending.failure)")
        #expect(ending.words.components(separatedBy: "was replaced: its process was ended by signal 11").count == 3)
        #expect(workshop.leftovers.isEmpty && !FileManager.default.fileExists(atPath: workshop.file("out.mp4")))
        #expect(workshop.spooled.count == 3)
        let healed = try RunningExport.run(workshop, to: "out.mp4", options + ["--resume"])
        #expect(healed.code == 0 && healed.isProved && healed.attempts == 1, "\(healed.words)")
    }

    @Test("A filter that hangs on the first pictures is told before anything is encoded")
    func hungPlan() throws {
        try workshop.makeClip(seconds: 4)
        let endless = ["--filter", "realtime=limit=1000:speed=0.0001", "--stall-limit", "1"]
        let ending = try RunningExport.run(workshop, to: "never.mp4", endless)
        #expect(ending.code == 64 && ending.words.contains("--stall-limit"), "\(ending.words)")
        #expect(!FileManager.default.fileExists(atPath: workshop.file("never.mp4")) && workshop.leftovers.isEmpty)
    }

    @Test("An export that was stopped for a while (Ctrl-Z) goes on, and blames no slot for its own silence")
    func stoppedCoordinator() throws {
        try workshop.makeClip(seconds: 12)
        let export = try RunningExport(workshop, to: "out.mp4", Self.paced + ["--workers", "2"])
        try awaited("a segment") { workshop.spooled.isEmpty ? nil : true }
        export.signal(SIGSTOP)
        // Longer than the silence after which a slot is taken for lost.
        sleep(22)
        export.signal(SIGCONT)
        let ending = try export.ending()
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(ending.warnings.isEmpty, "\(ending.warnings)")
    }

    // MARK: Interruptions

    @Test("Ctrl-C stops within two seconds and leaves no file; --resume encodes the rest to the same bytes")
    func interruption() throws {
        try workshop.makeClip(seconds: 24)
        #expect(try RunningExport.run(workshop, to: "whole.mp4", Self.quick + ["--filter", "null"]).code == 0)
        let export = try RunningExport(workshop, to: "part.mp4", Self.paced + ["--workers", "2"])
        try awaited("some segments") { workshop.spooled.count >= 3 ? true : nil }
        let slots = export.slots
        export.signal(SIGINT)
        let stopped = try export.ending(within: 2)
        #expect(stopped.code == 130)
        #expect(stopped.words.contains("--resume"))
        #expect(stopped.failure["exit_code"] as? Int == 130)
        #expect(!FileManager.default.fileExists(atPath: workshop.file("part.mp4")) && workshop.leftovers.isEmpty)
        #expect(!slots.contains(where: ProcessTable.isAlive))

        let kept = workshop.spooled.count
        let ending = try RunningExport.run(workshop, to: "part.mp4", Self.paced + ["--workers", "2", "--resume"])
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        // A segment that runs alone at the end may be given to the idle slot too.
        #expect((ending.segments - kept...ending.segments - kept + 1).contains(ending.attempts))
        #expect(try workshop.bytes("part.mp4") == workshop.bytes("whole.mp4"))
        #expect(workshop.jobs.isEmpty)
    }

    @Test(
        "A second signal ends at once, and the slots with it; nothing half written stays",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func secondInterruption(signal: Int32) throws {
        try workshop.makeClip(seconds: 24)
        let export = try RunningExport(workshop, to: "part.mp4", Self.paced + ["--workers", "2"])
        let slots = try awaited("two slots") { export.slots.count == 2 ? export.slots : nil }
        // From the first segment on the output is being written.
        try awaited("an unfinished output") { workshop.leftovers.isEmpty ? nil : true }
        export.signal(signal)
        export.signal(signal)
        // Two signals of a kind that are sent too close together are one (signal(7)).
        usleep(20_000)
        export.signal(signal)
        #expect(try export.ending(within: 1).code == 130)
        #expect(workshop.leftovers.isEmpty, "\(workshop.leftovers)")
        try awaited("the slots to go", seconds: 5) { slots.contains(where: ProcessTable.isAlive) ? nil : true }
    }

    @Test("Killed at random moments and with a damaged spool, --resume completes the same bytes and leaves nothing")
    func killedCoordinator() throws {
        try workshop.makeClip(seconds: 30)
        #expect(try RunningExport.run(workshop, to: "whole.mp4", Self.quick + ["--filter", "null"]).code == 0)
        var random = SeededRandom(seed: 7)
        var sockets: Set<String> = []
        for round in 0..<4 {
            let export = try RunningExport(workshop, to: "part.mp4", Self.paced + ["--workers", "2", "--resume"])
            let slots = try awaited("two slots") { export.slots.count == 2 ? export.slots : nil }
            for word in ProcessTable.words(of: slots[0]) where word.hasPrefix("ipc://") {
                sockets.insert(String(word.dropFirst("ipc://".count)))
            }
            usleep(UInt32(random.next() % 1_500_000))
            if round == 3 { try awaited("some segments") { workshop.spooled.count >= 5 ? true : nil } }
            export.signal(SIGKILL)
            _ = try export.ending()
            try awaited("the slots to go", seconds: 5) { slots.contains(where: ProcessTable.isAlive) ? nil : true }
        }
        try damageSpool()
        let kept = workshop.spooled.count - 2
        let ending = try RunningExport.run(workshop, to: "part.mp4", Self.paced + ["--workers", "2", "--resume"])
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(ending.words.contains("missing or altered"), "\(ending.words)")
        #expect(ending.attempts >= ending.segments - kept - 1 && ending.attempts < ending.segments)
        #expect(try workshop.bytes("part.mp4") == workshop.bytes("whole.mp4"))
        #expect(workshop.leftovers.isEmpty && workshop.jobs.isEmpty)
        #expect(!sockets.contains { FileManager.default.fileExists(atPath: $0) })
    }

    @Test("A segment that the disk alters while the stitch waits is encoded again in the same run, and no other")
    func bitRot() throws {
        try workshop.makeClip(seconds: 16)
        #expect(try RunningExport.run(workshop, to: "whole.mp4", Self.quick + ["--filter", "null"]).code == 0)
        let export = try RunningExport(workshop, to: "part.mp4", Self.paced + ["--workers", "2"])
        let slots = try awaited("two slots") { export.slots.count == 2 ? export.slots : nil }
        try awaited("a segment") { workshop.spooled.isEmpty ? nil : true }
        // What comes after this slot's segment has to wait for it.
        kill(slots[0], SIGSTOP)
        let before = workshop.spooled.count
        try awaited("segments out of order") { workshop.spooled.count >= before + 2 ? true : nil }
        let late = try #require(workshop.spooled.last)
        let handle = try #require(FileHandle(forUpdatingAtPath: late))
        try handle.seek(toOffset: 200)
        try handle.write(contentsOf: Data("rot".utf8))
        try handle.close()
        kill(slots[0], SIGCONT)
        let ending = try export.ending()
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(ending.warnings.contains { $0.contains("short or altered") }, "\(ending.warnings)")
        #expect(ending.attempts == ending.segments + 1)
        #expect(try workshop.bytes("part.mp4") == workshop.bytes("whole.mp4"))
    }

    @Test("A copy that was killed leaves a file which the same command removes")
    func killedCopy() throws {
        // So many samples that the copy lasts.
        try workshop.makeLongClip("long.mp4", minutes: 60)
        let copy = ["--video-codec", "copy"]
        // The proof and the fsync come after the stitch: wherever the kill falls, the rest is known.
        let export = try RunningExport(workshop, from: "long.mp4", to: "copy.mp4", copy)
        try awaited("the note of the file") {
            workshop.jobs.contains { FileManager.default.fileExists(atPath: workshop.state + "/exports/\($0)/traces") }
                ? true : nil
        }
        export.signal(SIGKILL)
        _ = try export.ending()
        let ending = try RunningExport.run(workshop, from: "long.mp4", to: "copy.mp4", copy + ["--overwrite"])
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(workshop.leftovers.isEmpty && workshop.jobs.isEmpty)
    }

    /// One file altered, one cut off, one gone.
    private func damageSpool() throws {
        let files = workshop.spooled
        try #require(files.count >= 5)
        let handle = try #require(FileHandle(forUpdatingAtPath: files[0]))
        try handle.seek(toOffset: 60)
        try handle.write(contentsOf: Data("damaged".utf8))
        try handle.close()
        truncate(files[1], 100)
        unlink(files[2])
    }

    @Test("A damaged job store is told with --resume, and begun anew without")
    func damagedStore() throws {
        try workshop.makeClip(seconds: 12)
        let export = try RunningExport(workshop, to: "part.mp4", Self.paced + ["--workers", "2"])
        try awaited("a segment") { workshop.spooled.isEmpty ? nil : true }
        export.signal(SIGKILL)
        _ = try export.ending()
        let job = try #require(workshop.jobs.first)
        let folder = workshop.state + "/exports/\(job)"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("jobs.db") {
            try Data(repeating: 0x5A, count: 9000).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let refused = try RunningExport.run(workshop, to: "part.mp4", Self.paced + ["--resume"])
        #expect(refused.code == 74 && refused.words.contains("without --resume"), "\(refused.words)")
        let ending = try RunningExport.run(workshop, to: "part.mp4", Self.paced)
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(workshop.jobs.isEmpty && workshop.leftovers.isEmpty)
    }

    @Test("The same job twice at once is refused as temporary; another one beside it is not")
    func twoAtOnce() throws {
        try workshop.makeClip(seconds: 12)
        let first = try RunningExport(workshop, to: "a.mp4", Self.paced + ["--workers", "2"])
        try awaited("the first to work") { first.slots.isEmpty ? nil : true }
        let same = try RunningExport.run(workshop, to: "a.mp4", Self.paced)
        #expect(same.code == 75, "\(same.words)")
        #expect(try RunningExport.run(workshop, to: "b.mp4", Self.quick).code == 0)
        let ending = try first.ending()
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(workshop.leftovers.isEmpty && workshop.jobs.isEmpty)
    }

    // MARK: Many segments

    @Test("Two hundred segments with 256 descriptors: none leak, nor threads, and no memory grows with the length")
    func manySegments() throws {
        try workshop.makeLongClip("short.mp4", minutes: 1)
        try workshop.makeLongClip("long.mp4", minutes: 20)
        let few = try measured("short.mp4", segments: 30, marks: [5, 20])
        let many = try measured("long.mp4", segments: 600, marks: [50, 500])
        for (early, late) in zip(many.marks[0], many.marks[1]) {
            // A thread or a file that is just being used may be in one of the two pictures alone.
            #expect(late.threads <= early.threads + 2, "threads \(early.threads), then \(late.threads)")
            #expect(late.descriptors <= early.descriptors + 8, "files \(early.descriptors), then \(late.descriptors)")
        }
        for slot in 1...2 {
            let growth = many.marks[1][slot].peak - many.marks[0][slot].peak
            #expect(growth < 20_000, "a slot grew by \(growth) kB")
        }
        let growth = many.marks[1][0].peak - few.marks[1][0].peak
        #expect(growth < 30_000, "the coordinator grew by \(growth) kB over 20 minutes")
        print("coordinator: \(few.marks[1][0].peak) kB for 1 minute, \(many.marks[1][0].peak) kB for 20 minutes")
    }

    /// Coordinator and both slots at two moments.
    private func measured(
        _ source: String, segments: Int, marks: [Int]
    ) throws -> (marks: [[ProcessTable.Usage]], ending: RunningExport.Ending) {
        let export = try RunningExport(
            workshop, from: source, to: "out-" + source, Self.quick + ["--workers", "2"], shell: "ulimit -n 256")
        var pictures: [[ProcessTable.Usage]] = []
        for mark in marks {
            pictures.append(
                try awaited("\(mark) segments") {
                    guard workshop.spooled.count >= mark else { return nil }
                    let usages = ([export.pid] + export.slots).compactMap(ProcessTable.usage)
                    return usages.count == 3 ? usages : nil
                })
        }
        let ending = try export.ending()
        #expect(ending.code == 0 && ending.isProved, "\(ending.words)")
        #expect(ending.segments == segments)
        return (pictures, ending)
    }
}
