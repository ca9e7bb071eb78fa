internal import CFFmpeg

/// A time code of SMPTE ST 12-1: hours, minutes, seconds and frames at a nominal rate, with or without dropped numbers.
package struct Timecode: Sendable, Hashable {
    /// `01:00:00:00`, `01:00:00;00` where numbers are dropped.
    package let text: String
    package let rate: Rational
    private let start: Int32

    /// - Returns: `nil` for what is no time code at that rate.
    package init?(_ text: String, rate: Rational) {
        _ = CodecLog.installed
        var code = AVTimecode()
        guard av_timecode_init_from_string(&code, AVRational(rate), text, nil) >= 0 else { return nil }
        (self.text, self.rate, start) = (text, rate, code.start)
    }

    /// The time code `frames` later; where a day is over it begins anew.
    package func advanced(byFrames frames: Int64) -> Timecode? {
        var code = AVTimecode()
        guard av_timecode_init_from_string(&code, AVRational(rate), text, nil) >= 0,
            let number = Int32(exactly: frames)
        else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, av_timecode_make_string(&code, base, number) != nil else { return nil }
            return Timecode(String(cString: base), rate: rate)
        }
    }

    /// What the picture itself says: SEI or header time codes (SMPTE ST 12-1), else that of its MPEG-2 group, which encoders that
    /// know none leave at zero.
    package init?(of frame: Frame, rate: Rational) {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer -> String? in
            guard let base = buffer.baseAddress else { return nil }
            func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
                bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            if let bytes = frame.attachment(.timecode)?.bytes, bytes.count >= 8, number(bytes, 0, 4) > 0 {
                let code = UInt32(truncatingIfNeeded: number(bytes, 4, 4))
                return av_timecode_make_smpte_tc_string2(base, AVRational(rate), code, 0, 0).map { String(cString: $0) }
            }
            guard let bytes = frame.attachment(.groupTimecode)?.bytes, bytes.count >= 8 else { return nil }
            let code = UInt32(truncatingIfNeeded: number(bytes, 0, 8))
            let text = av_timecode_make_mpeg_tc_string(base, code).map { String(cString: $0) }
            return text == "00:00:00:00" ? nil : text
        }
        guard let text else { return nil }
        self.init(text, rate: rate)
    }

    /// The rate that frames are counted at: the usual one that a measured rate means.
    package static func nominalRate(_ measured: Double) -> Rational? {
        let usual: [(Int32, Int32)] = [
            (24_000, 1001), (24, 1), (25, 1), (30_000, 1001), (30, 1), (48_000, 1001), (48, 1), (50, 1), (60_000, 1001),
            (60, 1),
        ]
        let nearest = usual.min {
            abs(Double($0.0) / Double($0.1) - measured) < abs(Double($1.0) / Double($1.1) - measured)
        }
        guard let nearest, abs(Double(nearest.0) / Double(nearest.1) / measured - 1) < 0.0004 else { return nil }
        return Rational(nearest.0, nearest.1)
    }
}
