import Support
import Testing

@testable import ClusterProtocol

@Suite struct FlowControlTests {
    @Test(
        "Whatever the order of sends and consumption, no more than the window is ever outstanding and all bytes get through",
        arguments: 0..<40 as Range<UInt64>)
    func conservation(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let size = Int64.random(in: 1...5000, using: &generator)
        var window = CreditWindow(size: size)
        var balance = CreditBalance(window.size)
        var (toSend, inMemory, consumed) = (100_000, 0, 0)
        while consumed < 100_000 {
            if Bool.random(using: &generator) {
                let chunk = min(toSend, Int(min(balance.available, .random(in: 1...size, using: &generator))))
                if chunk > 0, balance.spend(chunk) {
                    try window.receive(chunk)
                    (toSend, inMemory) = (toSend - chunk, inMemory + chunk)
                }
            } else if inMemory > 0 {
                let bytes = Int.random(in: 1...inMemory, using: &generator)
                (inMemory, consumed) = (inMemory - bytes, consumed + bytes)
                balance.grant(window.consume(bytes))
            }
            #expect(inMemory + Int(balance.available) <= size)
        }
    }

    @Test("A peer that sends beyond its credit is refused")
    func overdraft() throws {
        var window = CreditWindow(size: 100)
        try window.receive(100)
        #expect(throws: ProtocolError.self) { try window.receive(1) }
        let grants = [window.consume(10), window.consume(30)]
        #expect(grants == [0, 40])
        try window.receive(40)
    }

    @Test("Consumption that never arrived grants nothing")
    func falseConsumption() {
        var window = CreditWindow(size: 100)
        let grant = window.consume(1_000_000)
        #expect(grant == 0)
    }

    @Test("Credit does not overflow")
    func overflow() {
        var balance = CreditBalance(.max)
        balance.grant(.max)
        #expect(balance.available == ProtocolLimits.segmentBytes)
        let isSpent = balance.spend(-1)
        #expect(!isSpent)
    }

    @Test("Chunks that repeat, skip or move are refused")
    func sequence() throws {
        var sequence = ChunkSequence()
        let lease = Examples.lease
        try sequence.accept(Chunk(lease: lease, sequence: 0, offset: 0), bytes: 10)
        for (number, offset) in [(0, 0), (2, 10), (1, 11), (1, 0)] as [(Int, Int64)] {
            #expect(throws: ProtocolError.self) {
                try sequence.accept(Chunk(lease: lease, sequence: number, offset: offset), bytes: 10)
            }
        }
        try sequence.accept(Chunk(lease: lease, sequence: 1, offset: 10), bytes: 5)
        let hash = String(repeating: "0", count: 32)
        try sequence.check(SegmentResult(lease: lease, frames: 1, samples: 1, bytes: 15, hash: hash))
        #expect(throws: ProtocolError.self) {
            try sequence.check(SegmentResult(lease: lease, frames: 1, samples: 1, bytes: 16, hash: hash))
        }
    }
}
