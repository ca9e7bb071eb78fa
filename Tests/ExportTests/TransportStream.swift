/// A transport stream made by ffmpeg, with more elementary streams in it than ffmpeg would write (ISO/IEC 13818-1).
struct TransportStream {
    /// One more elementary stream.
    struct Elementary {
        var pid: UInt16
        var type: UInt8
        var descriptors: [UInt8]
        /// Seconds from the start, and the payload; `nil` for a packet without a time.
        var payloads: [(seconds: Double?, place: Double, bytes: [UInt8])]

        init(pid: UInt16, type: UInt8, descriptors: [UInt8], payloads: [(Double, [UInt8])], isTimed: Bool = true) {
            self.pid = pid
            self.type = type
            self.descriptors = descriptors
            self.payloads = payloads.map { (isTimed ? $0.0 : nil, $0.0, $0.1) }
        }
    }

    private static let packetSize = 188
    /// ffmpeg's PID of the program map.
    private static let programMap: UInt16 = 0x1000
    /// What ffmpeg puts before the first picture.
    private static let delay = 1.4

    /// - Parameter seconds: how long the stream lasts.
    static func adding(_ streams: [Elementary], to bytes: [UInt8], seconds: Double) -> [UInt8] {
        var result: [UInt8] = []
        var counters: [UInt16: UInt8] = [:]
        var waiting = streams.flatMap { stream in stream.payloads.map { (stream.pid, $0) } }
            .sorted { $0.1.place < $1.1.place }[...]
        for start in stride(from: 0, to: bytes.count, by: packetSize) {
            let packet = Array(bytes[start..<min(start + packetSize, bytes.count)])
            let pid = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
            result += pid == programMap ? mapped(packet, streams) : packet
            while let (pid, payload) = waiting.first, payload.place <= seconds * Double(start) / Double(bytes.count) {
                waiting.removeFirst()
                result += packets(pid, payload.seconds, payload.bytes, &counters[pid, default: 0])
            }
        }
        return result
    }

    /// The program map with the streams added (§2.4.4.8).
    private static func mapped(_ packet: [UInt8], _ streams: [Elementary]) -> [UInt8] {
        let begin = 5 + Int(packet[4])
        let length = Int(packet[begin + 1] & 15) << 8 | Int(packet[begin + 2])
        var section = Array(packet[begin..<(begin + 3 + length - 4)])
        for stream in streams {
            section += [stream.type, 0xE0 | UInt8(stream.pid >> 8), UInt8(stream.pid & 0xFF), 0xF0]
            section += [UInt8(stream.descriptors.count)] + stream.descriptors
        }
        let rest = section.count - 3 + 4
        section[1] = 0xB0 | UInt8(rest >> 8)
        section[2] = UInt8(rest & 0xFF)
        let sum = checksum(section)
        section += (0..<4).map { UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32($0))) }
        let head = Array(packet[0..<4]) + [0] + section
        return head + [UInt8](repeating: 0xFF, count: packetSize - head.count)
    }

    /// One PES packet of a private stream (§2.4.3.6), in transport packets.
    private static func packets(_ pid: UInt16, _ seconds: Double?, _ bytes: [UInt8], _ counter: inout UInt8) -> [UInt8]
    {
        var header: [UInt8] = [0x84, 0, 0]
        if let seconds {
            let pts = UInt64((seconds + delay) * 90_000)
            func byte(_ shift: UInt64, _ mask: UInt64) -> UInt8 { UInt8(pts >> shift & mask) }
            header = [
                0x84, 0x80, 5, 0x21 | byte(29, 0xE), byte(22, 0xFF), 1 | byte(14, 0xFE), byte(7, 0xFF),
                1 | UInt8(pts << 1 & 0xFE),
            ]
        }
        let size = header.count + bytes.count
        var left = ([0, 0, 1, 0xBD, UInt8(size >> 8), UInt8(size & 0xFF)] + header + bytes)[...]
        var result: [UInt8] = []
        while !left.isEmpty {
            let part = left.prefix(184)
            let isFirst = result.isEmpty
            left = left.dropFirst(part.count)
            let fill = 184 - part.count
            result += [0x47, (isFirst ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF)]
            result.append((fill > 0 ? 0x30 : 0x10) | counter & 15)
            if fill > 0 { result.append(UInt8(fill - 1)) }
            if fill > 1 { result += [0] + [UInt8](repeating: 0xFF, count: fill - 2) }
            result += part
            counter &+= 1
        }
        return result
    }

    /// CRC-32 of a section (annex A).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte) << 24) { value, _ in
                value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
            }
        }
    }
}
