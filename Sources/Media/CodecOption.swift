internal import CFFmpeg

/// Sets one option of a codec context or of its private part.
///
/// - Throws: `.invalidSettings` naming the option and the codec, whether the name is unknown or the value is refused.
func setCodecOption(
    _ name: String, to value: String, on context: UnsafeMutablePointer<AVCodecContext>, named codec: String,
    _ boundary: MediaError.Boundary
) throws(MediaError) {
    let status = av_opt_set(context, name, value, AV_OPT_SEARCH_CHILDREN)
    guard status < 0 else { return }
    let message =
        status == weft_averror_option_not_found()
        ? "“\(codec)” has no option “\(name)”."
        : "“\(codec)” does not take “\(value)” for its option “\(name)”."
    throw MediaError(
        boundary, .invalidSettings, message, code: status, log: CodecLog.recentLines(of: context, count: 4))
}
