/// Subtitles of a Blu-ray disc (PGS) as a .sup file, made by hand: no free encoder writes them. Segments as in US patent
/// application 2009/0185789; one filled rectangle a cue.
enum PresentationGraphics {
    static func file(_ cues: [(start: Double, end: Double)], width: Int = 320, height: Int = 180) -> [UInt8] {
        cues.enumerated().flatMap { number, cue in
            display(2 * number, at: cue.start, width, height) + clear(2 * number + 1, at: cue.end, width, height)
        }
    }

    private static let (boxWidth, boxHeight, left, top) = (80, 20, 100, 140)

    private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }

    private static func segment(_ type: UInt8, _ payload: [UInt8], at time: Double) -> [UInt8] {
        let pts = UInt32(time * 90_000)
        let stamp = (0..<4).map { UInt8(truncatingIfNeeded: pts >> (24 - 8 * UInt32($0))) }
        return Array("PG".utf8) + stamp + stamp + [type] + word(payload.count) + payload
    }

    private static func composition(
        _ number: Int, _ objects: [[UInt8]], _ width: Int, _ height: Int, state: UInt8
    ) -> [UInt8] {
        word(width) + word(height) + [0x10] + word(number) + [state, 0, 0, UInt8(objects.count)] + objects.joined()
    }

    private static var window: [UInt8] { [1, 0] + word(left) + word(top) + word(boxWidth) + word(boxHeight) }

    private static func display(_ number: Int, at time: Double, _ width: Int, _ height: Int) -> [UInt8] {
        let object = word(0) + [0, 0] + word(left) + word(top)
        // A run of one colour for each line, and the line's end.
        let line: [UInt8] = [0] + word(0xC000 | boxWidth) + [1, 0, 0]
        let data = Array(repeatElement(line, count: boxHeight).joined())
        let length = data.count + 4
        let picture = word(0) + [0, 0xC0, UInt8(length >> 16)] + word(length) + word(boxWidth) + word(boxHeight) + data
        return segment(0x16, composition(number, [object], width, height, state: 0x80), at: time)
            + segment(0x17, window, at: time) + segment(0x14, [0, 0, 1, 200, 128, 128, 255], at: time)
            + segment(0x15, picture, at: time) + segment(0x80, [], at: time)
    }

    private static func clear(_ number: Int, at time: Double, _ width: Int, _ height: Int) -> [UInt8] {
        segment(0x16, composition(number, [], width, height, state: 0), at: time)
            + segment(0x17, window, at: time) + segment(0x80, [], at: time)
    }
}
