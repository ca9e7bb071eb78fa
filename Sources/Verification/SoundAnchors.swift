internal import Media

/// Recognises copied packets of sound by their bytes, so that where they lie in source and output can be compared whatever is
/// said of priming.
struct SoundAnchors {
    /// Packets remembered at either end of a track.
    private static let reach = 96

    private struct Packet {
        var hash: UInt64
        var pts: Int64
    }

    private var head: [Packet] = []
    private var tail: [Packet] = []
    private var next = 0

    mutating func add(_ sample: Sample, pts: Int64) {
        // Silence is coded in a few bytes, alike everywhere.
        guard sample.size > 16 else { return }
        let packet = Packet(hash: sample.withUnsafeBytes(Self.hash), pts: pts)
        if head.count < Self.reach { head.append(packet) }
        if tail.count < Self.reach {
            tail.append(packet)
        } else {
            tail[next] = packet
            next = (next + 1) % Self.reach
        }
    }

    /// FNV-1a: no secret, no attacker.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }

    /// The times of packets that both tracks have, each once: source first.
    enum End { case head, tail }
    func pairs(with other: SoundAnchors, at end: End) -> [(Int64, Int64)] {
        let left = Self.unique(end == .head ? head : tail)
        let right = Self.unique(end == .head ? other.head : other.tail)
        return left.compactMap { hash, pts in right[hash].map { (pts, $0) } }.sorted { $0.0 < $1.0 }
    }

    private static func unique(_ packets: [Packet]) -> [UInt64: Int64] {
        var times: [UInt64: Int64] = [:]
        var repeated: Set<UInt64> = []
        for packet in packets where times.updateValue(packet.pts, forKey: packet.hash) != nil {
            repeated.insert(packet.hash)
        }
        return times.filter { !repeated.contains($0.key) }
    }
}
