extension MediaTime: CustomStringConvertible {
    /// `value/timescale`, which ``init(text:)`` reads back; or the name of a special value.
    public var description: String {
        isNumeric ? "\(value)/\(timescale)" + (epoch == 0 ? "" : " (epoch \(epoch))") : specialName
    }

    /// For people: `h:mm:ss.mmm`, rounded to the nearest millisecond, `-` before a negative time.
    public var clockText: String {
        guard isNumeric else { return specialName }
        let milliseconds = TimeRounding.halfAwayFromZero.quotient(
            of: Int128(value) * 1000, by: Int128(timescale), toFiner: false
        ).value
        let (seconds, fraction) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let (minutes, second) = seconds.quotientAndRemainder(dividingBy: 60)
        let (hours, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        return "\(milliseconds < 0 ? "-" : "")\(hours):\(padded(minute, 2)):\(padded(second, 2)).\(padded(fraction, 3))"
    }

    private var specialName: String {
        if !isValid { return "invalid" }
        if isIndefinite { return "indefinite" }
        return isPositiveInfinity ? "+infinity" : "-infinity"
    }

    private func padded(_ number: UInt128, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension MediaTime {
    /// Reads what people type, exactly: seconds (`90`, `90.25`), `minutes:seconds` (`1:30`), `hours:minutes:seconds`
    /// (`00:01:30.5`) or a fraction of seconds (`30000/1001`), each with an optional sign.
    ///
    /// After a larger unit, minutes and seconds must be below 60. A decimal fraction has as many digits as a time can
    /// hold exactly (nine always fit).
    ///
    /// - Returns: `nil` for anything else, and for what does not fit.
    public init?(text: String) {
        var body = Array(text.utf8)[...]
        let sign: Int128 = body.first == UInt8(ascii: "-") ? -1 : 1
        if body.first == UInt8(ascii: "-") || body.first == UInt8(ascii: "+") { body.removeFirst() }
        let rational = TimeText.fraction(body) ?? TimeText.clock(body)
        guard let (numerator, denominator) = rational,
            let time = try? MediaTime.exactly(
                sign * numerator, over: denominator, epoch: 0, isRounded: false)
        else { return nil }
        self = time
    }
}

/// The grammar of ``MediaTime/init(text:)``. Numbers stay below 10¹⁹ and decimal fractions at 12 digits, so that
/// 128 bits hold whatever is made of them.
private enum TimeText {
    typealias Rational = (numerator: Int128, denominator: Int128)

    static func fraction(_ text: ArraySlice<UInt8>) -> Rational? {
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let numerator = number(parts[0]), let denominator = number(parts[1]),
            denominator > 0, denominator <= Int128(Int32.max)
        else { return nil }
        return (numerator, denominator)
    }

    static func clock(_ text: ArraySlice<UInt8>) -> Rational? {
        let halves = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard halves.count <= 2, let seconds = wholeSeconds(halves[0]) else { return nil }
        guard halves.count == 2 else { return (seconds, 1) }
        var digits = halves[1]
        guard !digits.isEmpty else { return nil }
        while digits.count > 1, digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard digits.count <= 12, let fraction = number(digits) else { return nil }
        let scale = digits.reduce(Int128(1)) { scale, _ in scale * 10 }
        return (seconds * scale + fraction, scale)
    }

    private static func wholeSeconds(_ text: ArraySlice<UInt8>) -> Int128? {
        let fields = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count <= 3 else { return nil }
        var seconds: Int128 = 0
        for (position, field) in fields.enumerated() {
            guard let number = number(field), position == 0 || (number < 60 && field.count <= 2) else { return nil }
            seconds = seconds * 60 + number
        }
        return seconds
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int128? {
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var result: Int128 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            result = result * 10 + Int128(digit - UInt8(ascii: "0"))
        }
        return result
    }
}
