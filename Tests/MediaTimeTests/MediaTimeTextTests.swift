import Foundation
import MediaTime
import Support
import Testing

@Suite struct MediaTimeTextTests {
    @Test(
        "what people type is read exactly",
        arguments: [
            ("90", 90, 1), ("1:30", 90, 1), ("00:01:30.5", 181, 2), ("30000/1001", 30000, 1001), ("0.1", 1, 10),
            ("-2.25", -9, 4), ("+3", 3, 1), ("100:00", 6000, 1), ("10:00:00", 36000, 1), ("1.500000000000000", 3, 2),
            ("0.000000001", 1, 1_000_000_000), ("1.0", 1, 1), ("9223372036854775807", Int64.max, 1),
            ("-9223372036854775808", Int64.min, 1), ("0.00", 0, 1),
        ] as [(String, Int64, Int32)])
    func reads(_ text: String, _ value: Int64, _ timescale: Int32) {
        #expect(MediaTime(text: text) == MediaTime(value: value, timescale: timescale))
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "-", "+-1", "1:", ":30", "1:60", "1:60:00", "1:2:3:4", "1:123", "5.", ".5", "1.2.3", "1e3", "inf",
            "nan", " 1", "1 ", "1/0", "1/-2", "1/2/3", "1/2147483648", "9223372036854775808", "0.3333333333333",
            "99999999999999999999", "99999999999999:00:00.123456789", "１", "1:30/2",
            "9999999999999999999:59:59.999999999999",
        ])
    func refuses(_ text: String) {
        #expect(MediaTime(text: text) == nil)
    }

    @Test("a description reads back as the same time")
    func roundTrip() {
        var random = SeededRandom(seed: 0x7E87)
        for _ in 0..<5_000 {
            let time = MediaTime(value: random.extremeValue(), timescale: max(1, random.anyTimescale()))
            #expect(MediaTime(text: time.description) == time)
        }
    }

    @Test("random text never traps")
    func fuzz() {
        var random = SeededRandom(seed: 0xF022)
        let alphabet = Array("0123456789999:./-+e ")
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<44, using: &random)
            let text = String((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
            _ = MediaTime(text: text)
        }
    }

    @Test("clock text is rounded to the millisecond and carries")
    func clock() {
        #expect(MediaTime(value: 181, timescale: 2).clockText == "0:01:30.500")
        #expect(MediaTime(value: 35_999_999_600, timescale: 1_000_000).clockText == "10:00:00.000")
        #expect(MediaTime(value: -1, timescale: 3).clockText == "-0:00:00.333")
        #expect(MediaTime(value: -1, timescale: 30000).clockText == "0:00:00.000")
        #expect(MediaTime(value: .min, timescale: 1).clockText == "-2562047788015215:30:08.000")
        #expect(MediaTime.indefinite.clockText == "indefinite")
    }
}

@Suite struct MediaTimeCodableTests {
    @Test("a plain time is value and timescale only")
    func plain() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(MediaTime(value: 1001, timescale: 30000))
        #expect(String(decoding: data, as: UTF8.self) == #"{"timescale":30000,"value":1001}"#)
    }

    @Test("every time survives JSON with its epoch and mark")
    func roundTrip() throws {
        var random = SeededRandom(seed: 0xC0DE)
        var times: [MediaTime] = [.invalid, .indefinite, .positiveInfinity, .negativeInfinity]
        times.append(try MediaTime(value: 1, timescale: 3).converted(toTimescale: 10))
        for _ in 0..<500 { times.append(random.anyTime()) }
        for time in times {
            let back = try JSONDecoder().decode(MediaTime.self, from: JSONEncoder().encode(time))
            #expect(back.value == time.value && back.timescale == time.timescale)
            #expect(back.epoch == time.epoch && back.flags == time.flags)
        }
    }

    @Test(
        "malformed JSON is a decoding error",
        arguments: [
            "{}", #"{"value":1}"#, #"{"value":1,"timescale":0}"#, #"{"value":1,"timescale":-5}"#,
            #"{"value":1,"timescale":2147483648}"#, #"{"value":9223372036854775808,"timescale":1}"#,
            #"{"value":1.5,"timescale":1}"#, #"{"value":"1","timescale":1}"#, #"{"value":1,"timescale":1,"flags":13}"#,
            #"{"value":1,"timescale":1,"flags":-1}"#, "[]", "null",
        ])
    func malformed(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(MediaTime.self, from: Data(json.utf8)) }
    }
}
