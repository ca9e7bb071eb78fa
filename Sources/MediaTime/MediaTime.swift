/// Exact time.
public struct MediaTime: Hashable, Sendable, Codable {
    public let value: Int64
    public let timescale: Int32
    public init(value: Int64, timescale: Int32) { self.value = value; self.timescale = timescale }
}
