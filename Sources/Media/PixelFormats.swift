internal import CFFmpeg

/// Choosing between pixel formats.
public enum PixelFormats {
    /// The format among `candidates` that loses least of `source` (libavutil's judgement: depth, chroma, colour, alpha);
    /// `nil` where none is known to libavutil.
    public static func nearest(to source: String, among candidates: [String]) -> String? {
        let from = av_get_pix_fmt(source)
        var best = AV_PIX_FMT_NONE
        for candidate in candidates {
            let format = av_get_pix_fmt(candidate)
            guard format != AV_PIX_FMT_NONE else { continue }
            best = best == AV_PIX_FMT_NONE ? format : av_find_best_pix_fmt_of_2(best, format, from, 0, nil)
        }
        return av_get_pix_fmt_name(best).map { String(cString: $0) }
    }
}
