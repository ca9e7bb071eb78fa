package import Media
internal import MediaTime

/// Samples of subtitles, and what is shown of them.
extension Sample {
    /// Whether something begins with the sample: timed text in MP4 fills the time between two captions with empty samples (3GPP TS
    /// 26.245 §5.17), and in a transport stream a display set of PGS comes segment by segment, first its composition.
    package var beginsCue: Bool {
        switch format.codecName {
        case "mov_text": size > 2
        case "hdmv_pgs_subtitle": withUnsafeBytes { $0.first == 0x16 }
        default: size > 0
        }
    }

    /// Ticks; 0 where the end is unknown. Bitmap subtitles that stay until the next one come with libavcodec's word for that, 2³² − 1
    /// ms (AVSubtitle.end_display_time), which other containers refuse.
    package var cueDuration: Int64 {
        let (unit, duration) = (timeBase, Int128(duration))
        let milliseconds = duration * 1000 * Int128(unit.numerator) / Int128(max(1, unit.denominator))
        return milliseconds >= Int128(UInt32.max) ? 0 : self.duration
    }
}
