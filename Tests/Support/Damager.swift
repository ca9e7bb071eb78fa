import Foundation

/// Damages media files at places of choice: a seed gives the same damage on any machine.
package struct Damager {
    package enum Place: String, CaseIterable, Sendable { case keyframe, middle, leading, last, sound }
    package enum Act: String, CaseIterable, Sendable { case flip, zero, drop }

    private struct Packet: Decodable {
        var pos: String?
        var size: String
        var flags: String
        var pts_time: String?
        var codec_type: String
        var offset: Int { Int(pos ?? "") ?? -1 }
        var count: Int { Int(size) ?? 0 }
        var isKey: Bool { flags.hasPrefix("K") }
        var time: Double { Double(pts_time ?? "") ?? 0 }
    }

    private let path: String
    private let packets: [Packet]

    /// - Parameter path: an intact file that ffprobe can read.
    package init(_ path: String) throws {
        self.path = path
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffprobe", "-v", "quiet", "-show_entries", "packet=codec_type,pos,size,flags,pts_time", "-of", "json", path,
        ]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        struct Answer: Decodable { var packets: [Packet] }
        packets = try JSONDecoder().decode(Answer.self, from: data).packets.filter { $0.offset >= 0 && $0.count > 16 }
    }

    private func candidates(_ place: Place) -> [Packet] {
        let pictures = packets.filter { $0.codec_type == "video" }
        switch place {
        case .keyframe: return Array(pictures.filter(\.isKey).dropFirst())
        case .middle: return pictures.filter { !$0.isKey }
        case .leading:
            // Shown before the keyframe that they follow.
            return pictures.indices.filter { index in
                guard let key = pictures[..<index].last(where: \.isKey) else { return false }
                return pictures[index].time < key.time
            }.map { pictures[$0] }
        case .last: return Array(pictures.suffix(2))
        case .sound: return packets.filter { $0.codec_type == "audio" }
        }
    }

    /// Writes a copy of the file in which a few packets are damaged.
    package func damage(_ place: Place, _ act: Act, count: Int = 2, seed: UInt64, to target: String) throws {
        var random = SeededRandom(seed: seed)
        var bytes = try readBytes(path)
        var chosen = candidates(place)
        if chosen.isEmpty { chosen = candidates(.middle) }
        chosen.shuffle(using: &random)
        let isTransport = path.hasSuffix(".ts")
        var cuts: [Range<Int>] = []
        for packet in chosen.prefix(count) {
            let size = min(packet.count, bytes.count - packet.offset)
            guard size > 16 else { continue }
            let payload = (packet.offset + 8)..<(packet.offset + size)
            switch act {
            case .flip:
                for _ in 0..<4 {
                    let at = Int.random(in: payload, using: &random)
                    if isTransport, (at - packet.offset) % 188 < 12 { continue }
                    bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            case .zero:
                let from = Int.random(in: payload, using: &random)
                for at in from..<min(payload.upperBound, from + 300)
                where !isTransport || (at - packet.offset) % 188 >= 12 { bytes[at] = 0 }
            case .drop where isTransport:
                // Whole packets of the transport stream.
                let first = packet.offset + 188
                if first + 376 <= bytes.count { cuts.append(first..<(first + 188)) }
            case .drop:
                for at in payload { bytes[at] = 0 }
            }
        }
        for cut in cuts.sorted(by: { $0.lowerBound > $1.lowerBound }) { bytes.removeSubrange(cut) }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// Writes a copy of which a part, given as shares of its length, is zeros; whole packets of a transport stream.
    package func wipe(_ shares: ClosedRange<Double>, to target: String) throws {
        var bytes = try readBytes(path)
        let (from, to) = (
            Int(Double(bytes.count) * shares.lowerBound) / 188 * 188,
            Int(Double(bytes.count) * shares.upperBound) / 188 * 188
        )
        if path.hasSuffix(".ts") {
            bytes.removeSubrange(from..<to)
        } else {
            for at in from..<to { bytes[at] = 0 }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// Writes a copy of a transport stream in which the first packet of a few samples comes twice.
    package func repeatPackets(of place: Place, count: Int, seed: UInt64, to target: String) throws {
        var random = SeededRandom(seed: seed)
        var bytes = try readBytes(path)
        let chosen = candidates(place).shuffled(using: &random).prefix(count).map(\.offset).sorted(by: >)
        for offset in chosen where offset + 188 <= bytes.count {
            bytes.insert(contentsOf: Array(bytes[offset..<(offset + 188)]), at: offset)
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// Writes a copy in which one sample begins with other bytes.
    package func overwrite(_ place: Place, with head: [UInt8], seed: UInt64, to target: String) throws {
        var random = SeededRandom(seed: seed)
        var bytes = try readBytes(path)
        guard let packet = candidates(place).shuffled(using: &random).first else { return }
        bytes.replaceSubrange(packet.offset..<(packet.offset + head.count), with: head)
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }

    /// Writes the beginning of the file, cut off at a place between the two shares of its length.
    package func truncate(_ shares: ClosedRange<Double>, seed: UInt64, to target: String) throws {
        var random = SeededRandom(seed: seed)
        let bytes = try readBytes(path)
        let length = Int(Double(bytes.count) * Double.random(in: shares, using: &random))
        try Data(bytes.prefix(length)).write(to: URL(fileURLWithPath: target))
    }

    /// Writes a copy whose header claims another length: `mvhd`, `tkhd` and `mdhd` of a movie (ISO/IEC 14496-12 §8.2.2, §8.3.2,
    /// §8.4.2, version 0), Duration of Matroska (RFC 9559 §5.1.2.10), and dwTotalFrames and dwLength of AVI.
    package func claimLength(times factor: Double, to target: String) throws {
        var bytes = try readBytes(path)
        func scale32(_ at: Int, littleEndian: Bool) {
            let order = littleEndian ? [3, 2, 1, 0] : [0, 1, 2, 3]
            let old = order.reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[at + $1]) }
            let new = UInt32(min(4e9, Double(old) * factor))
            for (place, index) in order.enumerated() {
                bytes[at + index] = UInt8(truncatingIfNeeded: new >> UInt32(24 - 8 * place))
            }
        }
        func each(_ name: [UInt8], _ body: (Int) -> Void) {
            for at in 0..<(bytes.count - 48) where Array(bytes[at..<(at + name.count)]) == name { body(at) }
        }
        switch path.split(separator: ".").last {
        case "mp4":
            each(Array("mvhd".utf8)) { scale32($0 + 20, littleEndian: false) }
            each(Array("mdhd".utf8)) { scale32($0 + 20, littleEndian: false) }
            each(Array("tkhd".utf8)) { scale32($0 + 24, littleEndian: false) }
        case "mkv":
            // An 8-byte float with the size byte 0x88.
            each([0x44, 0x89, 0x88]) { at in
                let old = (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[at + 3 + $1]) }
                let new = (Double(bitPattern: old) * factor).bitPattern
                for index in 0..<8 { bytes[at + 3 + index] = UInt8(truncatingIfNeeded: new >> UInt64(56 - 8 * index)) }
            }
        case "avi":
            each(Array("avih".utf8)) { scale32($0 + 8 + 16, littleEndian: true) }
            each(Array("strh".utf8)) { scale32($0 + 8 + 32, littleEndian: true) }
        default: break
        }
        try Data(bytes).write(to: URL(fileURLWithPath: target))
    }
}
