internal import Foundation

/// How numbers read in text for people.
enum Wording {
    /// "1 frame", "2 frames".
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// "4:05", "1:02:03", "0:12.345".
    static func clock(_ seconds: Double, decimals: Int = 0) -> String {
        // Beyond a few thousand years nobody reads it as a clock, and Int64 would be near its end.
        guard seconds.isFinite, abs(seconds) < 1e11 else { return "?" }
        let scale = pow(10, Double(decimals))
        let units = Int64((abs(seconds) * scale).rounded())
        let whole = units / Int64(scale)
        let hours = whole / 3600, minutes = whole / 60 % 60
        var text = String(whole % 60)
        if text.count < 2 { text = "0" + text }
        let minuteText = hours > 0 && minutes < 10 ? "0\(minutes)" : "\(minutes)"
        text = (hours > 0 ? "\(hours):" : "") + minuteText + ":" + text
        if decimals > 0 {
            let fraction = String(units % Int64(scale))
            text += "." + String(repeating: "0", count: decimals - fraction.count) + fraction
        }
        return seconds < 0 && units != 0 ? "-" + text : text
    }

    /// "812 bytes", "4.2 MB": decimal multiples, as on the label of a disk.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        guard abs(value) >= 1000 else { return "\(count) bytes" }
        for unit in ["kB", "MB", "GB", "TB"] {
            value /= 1000
            if abs(value) < 999.95 { return "\(decimal(value, 1)) \(unit)" }
        }
        return "\(decimal(value / 1000, 1)) PB"
    }

    static func decimal(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite else { return "?" }
        return String(format: "%.\(decimals)f", value)
    }

    /// Frames a second as people write them, "29.97", of an exact "30000/1001".
    static func rate(_ exact: String) -> String {
        let parts = exact.split(separator: "/").compactMap { Double($0) }
        guard parts.count == 2, parts[1] > 0 else { return exact }
        let text = String(format: "%.3f", parts[0] / parts[1])
        return String(text.reversed().drop { $0 == "0" }.reversed())
    }

    /// "47 %" of a share 0…1.
    static func percent(_ share: Double) -> String { "\(decimal(share * 100, 0)) %" }

    /// The first few of a list and how many more there are.
    static func few(_ words: [String], limit: Int) -> String {
        guard words.count > limit else { return words.joined(separator: " ") }
        return words.prefix(limit).joined(separator: " ") + " … \(words.count - limit) more"
    }
}
