import Support
import Testing

@testable import weft

@Suite("Quantities")
struct QuantityTests {
    @Test(
        "Rates are decimal multiples of bits a second",
        arguments: [
            ("4M", 4_000_000), ("800k", 800_000), ("2.5M", 2_500_000), ("1234", 1234), ("4Mbit/s", 4_000_000),
            ("128kbps", 128_000), (".5M", 500_000), ("1G", 1_000_000_000),
        ] as [(String, Int64)])
    func rates(text: String, value: Int64) {
        #expect(Quantity.rate(text) == value)
    }

    @Test(
        "Sizes tell MB from MiB",
        arguments: [
            ("700MB", 700_000_000), ("1GiB", 1_073_741_824), ("1.5GiB", 1_610_612_736), ("1.5G", 1_500_000_000),
            ("512", 512), ("512B", 512), ("2 TB", 2_000_000_000_000), ("64kB", 64_000), ("64KiB", 65_536),
        ] as [(String, Int64)])
    func sizes(text: String, value: Int64) {
        #expect(Quantity.size(text) == value)
    }

    @Test(
        "Durations have a unit, but for none and for ever",
        arguments: [
            ("90s", 90), ("30m", 1800), ("30min", 1800), ("24h", 86_400), ("7d", 604_800), ("2 w", 1_209_600), ("0", 0),
            ("forever", .infinity), ("0h", 0), ("90", nil), ("h", nil), ("-1h", nil), ("1.5h", nil), ("", nil),
            ("9999999999999999999d", nil), ("9223372036854775807w", nil),
        ] as [(String, Double?)])
    func spans(text: String, seconds: Double?) {
        #expect(Quantity.span(text) == seconds)
    }

    @Test(
        "What is no positive quantity is refused",
        arguments: [
            "", "0", "-4M", "4Q", "M", "4MM", "1e6", "1.2.3M", "99999999999G", "9223372036854775808", "٤M", ".",
        ])
    func refusals(text: String) {
        #expect(Quantity.rate(text) == nil)
        #expect(Quantity.size(text) == nil)
    }

    @Test("No text of digits, dots and units makes it trap")
    func fuzz() {
        var generator = SeededRandom(seed: 7)
        let alphabet = Array("0123456789..kMGTiBb/ s-")
        for _ in 0..<20_000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &generator)).compactMap { _ in
                    alphabet.randomElement(using: &generator)
                })
            _ = Quantity.rate(text)
            _ = Quantity.size(text)
        }
    }
}
