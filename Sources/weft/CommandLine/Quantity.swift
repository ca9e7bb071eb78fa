/// Numbers as people write them. No floating point; what does not fit is refused.
enum Quantity {
    /// Bits a second: `4M`, `800k`, `2.5M`, `2500000`, also with `bit/s` or `bps` after it. Decimal multiples.
    static func rate(_ text: String) -> Int64? {
        var text = text[...]
        for unit in ["bit/s", "bits/s", "bps", "b/s", "bit"] where text.hasSuffix(unit) {
            text = text.dropLast(unit.count)
            break
        }
        return scaled(String(text), units: ["": 1, "k": 1000, "K": 1000, "M": 1_000_000, "G": 1_000_000_000])
    }

    /// Bytes: `700MB`, `1GiB`, `1.5G`, `250000000`. MB is 1000², MiB is 1024².
    static func size(_ text: String) -> Int64? {
        var units: [String: Int64] = ["": 1, "B": 1]
        for (power, letter) in ["k", "M", "G", "T"].enumerated() {
            let decimal = power10(3 * (power + 1))
            for spelling in Set([letter, letter.uppercased()]) {
                units[spelling] = decimal
                units[spelling + "B"] = decimal
                units[spelling + "iB"] = Int64(1) << Int64(10 * (power + 1))
            }
        }
        return scaled(text, units: units)
    }

    /// Seconds of a duration: `90s`, `30m`, `24h`, `7d`, `2w`; `0`; and `forever`.
    static func span(_ text: String) -> Double? {
        switch text {
        case "forever": return .infinity
        case "0": return 0
        default: break
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int64] = ["s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800]
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int64(digits), let multiple = units[unit] else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: multiple)
        return overflow ? nil : Double(seconds)
    }

    /// A whole number within a range.
    static func count(_ text: String, in range: ClosedRange<Int>) -> Int? {
        guard let number = Int(text), range.contains(number) else { return nil }
        return number
    }

    private static func power10(_ exponent: Int) -> Int64 {
        (0..<exponent).reduce(1) { value, _ in value * 10 }
    }

    /// Digits, perhaps a fraction, and one of the units. `nil` when it is something else, negative, zero or too big.
    private static func scaled(_ text: String, units: [String: Int64]) -> Int64? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = String(text.dropFirst(number.count).drop { $0 == " " })
        guard !number.isEmpty, let multiple = units[unit] else { return nil }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = Int64(parts[0].isEmpty ? "0" : parts[0]) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: multiple)
        guard !overflow else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            let digits = parts[1]
            guard digits.count <= 6, let value = Int64(digits.isEmpty ? "0" : digits) else { return nil }
            let (scaled, tooBig) = value.multipliedReportingOverflow(by: multiple)
            guard !tooBig else { return nil }
            // 1.1MiB is no whole number of bytes; the part below one byte or bit means nothing here.
            fraction = scaled / power10(digits.count)
        }
        let (sum, tooBig) = product.addingReportingOverflow(fraction)
        return tooBig || sum <= 0 ? nil : sum
    }
}
