import Foundation
import Support
import Testing

@testable import ClusterProtocol

/// What real coordinators, workers and clients said to each other (`Tests/Captured`).
@Suite struct CapturedMessageTests {
    @Test("Every captured message is accepted, and is the same after another way over the wire")
    func roundTrip() throws {
        let messages = try CapturedMessage.all()
        var types: Set<String> = []
        for message in messages {
            let sizes = message.payload.map(\.count)
            if message.isUp {
                types.insert(try Self.turn(InboundMessage.self, message.header, sizes))
            } else if let reply: ClientReply = try? decode(message.header, sizes) {
                types.insert(type(of: reply.body).type)
            } else {
                types.insert(try Self.turn(CoordinatorMessage.self, message.header, sizes))
            }
        }
        // The corpus is worth something only as long as it has the life of a cluster in it.
        #expect(types.count >= 24, "\(types.sorted())")
    }

    private static func turn<Message: WireMessage>(
        _ type: Message.Type, _ header: [UInt8], _ sizes: [Int]
    ) throws -> String {
        let message: Message = try decode(header, sizes)
        let again: Message = try decode(try MessageCodec.encode(message, payload: sizes), sizes)
        #expect(again == message)
        return Swift.type(of: message.body).type
    }

    /// `WEFT_FUZZ` gives the rounds of each seed, 10,000 without it. What fails prints how to do it again.
    @Test(
        "Damaged messages crash no parser, and none allocates more than docs/PROTOCOL.md states",
        arguments: [1, 2] as [UInt64])
    func fuzz(seed: UInt64) throws {
        let rounds = ProcessInfo.processInfo.environment["WEFT_FUZZ"] ?? "10000"
        let process = Process()
        let program: URL = try #require(Self.program)
        process.executableURL = program
        process.arguments = ["--seed", "\(seed)", "--rounds", rounds]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "ProtocolFuzz: \(output)")
        print("ProtocolFuzz: \(output)")
    }

    /// Built beside these tests.
    private static let program: URL? = {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<5 {
            let candidate = folder.appending(path: "ProtocolFuzz")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        return nil
    }()
}
