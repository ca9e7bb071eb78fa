/// Seconds of thread time that each stage of a slot took, so far or in all.
package struct StageSeconds: Hashable, Sendable, Codable {
    package var read: Double
    package var decode: Double
    package var filter: Double
    package var encode: Double
    package var send: Double

    package init(
        read: Double = 0, decode: Double = 0, filter: Double = 0, encode: Double = 0, send: Double = 0
    ) {
        self.read = read
        self.decode = decode
        self.filter = filter
        self.encode = encode
        self.send = send
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func stage(_ key: CodingKeys) throws -> Double { try container.decodeIfPresent(Double.self, forKey: key) ?? 0 }
        self.init(
            read: try stage(.read), decode: try stage(.decode), filter: try stage(.filter), encode: try stage(.encode),
            send: try stage(.send))
    }

    package static func + (left: StageSeconds, right: StageSeconds) -> StageSeconds {
        StageSeconds(
            read: left.read + right.read, decode: left.decode + right.decode, filter: left.filter + right.filter,
            encode: left.encode + right.encode, send: left.send + right.send)
    }

    func check() throws(ProtocolError) {
        try Bounds.seconds(read, "stage_seconds.read")
        try Bounds.seconds(decode, "stage_seconds.decode")
        try Bounds.seconds(filter, "stage_seconds.filter")
        try Bounds.seconds(encode, "stage_seconds.encode")
        try Bounds.seconds(send, "stage_seconds.send")
    }
}
