// What we send is cut to what a peer accepts: a codec that logs a megabyte must not make its failure unreportable.

extension String {
    /// At most `limit` UTF-8 bytes, whole characters only, with control characters shown as `?`.
    func clipped(to limit: Int = ProtocolLimits.textBytes) -> String {
        var result = String.UnicodeScalarView()
        var bytes = 0
        for scalar in unicodeScalars {
            bytes += UTF8.width(scalar)
            if bytes > limit { break }
            result.append(Bounds.isPrintable(scalar) ? scalar : "?")
        }
        return String(result)
    }
}

extension [String] {
    /// The last `limit` lines, each clipped.
    func clipped(to limit: Int) -> [String] { suffix(limit).map { $0.clipped() } }
}

extension Failure {
    /// The same failure with every text within `ProtocolLimits`.
    package func bounded() -> Failure {
        var failure = self
        failure.message = message.clipped()
        failure.advice = advice.clipped()
        failure.log = log.clipped(to: ProtocolLimits.logLines)
        return failure
    }
}
