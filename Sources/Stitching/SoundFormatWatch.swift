internal import Media
internal import MediaTime

/// Tells where AAC that is copied changes its rate or channels. A transport stream's packets say it themselves (ADTS, ISO/IEC 14496-3
/// §1.A.3.2), a movie by another sample entry; one that is written tells the first alone.
struct SoundFormatWatch {
    struct Form: Hashable {
        var rate: Int
        /// ISO/IEC 14496-3 table 1.19: 7 is eight channels.
        var configuration: Int

        var text: String {
            let channels = configuration == 7 ? 8 : configuration
            return "\(rate) Hz with \(channels == 0 ? "other" : "\(channels)") channel\(channels == 1 ? "" : "s")"
        }
    }

    private var last: Form?
    private var count = 0

    /// - Parameter sample: with the format that the source gives it there.
    /// - Returns: what changed with it, a sentence's beginning; no more than a few of a track.
    mutating func change(at sample: Sample) -> String? {
        guard sample.format.codecName == "aac", let form = Self.form(of: sample) else { return nil }
        defer { last = form }
        guard let last, last != form, count < 8 else { return nil }
        count += 1
        let unit = sample.timeBase
        let seconds = Double(sample.pts ?? 0) * Double(unit.numerator) / Double(unit.denominator)
        return
            "its sound changes from \(last.text) to \(form.text) at \((seconds * 1000).rounded() / 1000) s of the source"
    }

    private static func form(of sample: Sample) -> Form? {
        let head = sample.withUnsafeBytes { Array($0.prefix(7)) }
        return adts(head) ?? (sample.format.extradata.count >= 2 ? configuration(sample.format.extradata) : nil)
    }

    /// Without extradata, as transport streams have it, every packet begins so.
    static func adts(_ head: [UInt8]) -> Form? {
        guard head.count >= 7, head[0] == 0xFF, head[1] & 0xF6 == 0xF0 else { return nil }
        return form(index: Int(head[2] >> 2 & 0xF), configuration: Int(head[2] & 1) << 2 | Int(head[3] >> 6))
    }

    /// AudioSpecificConfig, ISO/IEC 14496-3 §1.6.2.1; not its rarer forms, with a rate or an object type of their own.
    static func configuration(_ bytes: [UInt8]) -> Form? {
        guard bytes.count >= 2, bytes[0] >> 3 != 31 else { return nil }
        return form(
            index: Int(bytes[0] & 7) << 1 | Int(bytes[1] >> 7), configuration: Int(bytes[1] >> 3 & 0xF))
    }

    private static func form(index: Int, configuration: Int) -> Form? {
        let rates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]
        return rates.indices.contains(index) ? Form(rate: rates[index], configuration: configuration) : nil
    }
}
