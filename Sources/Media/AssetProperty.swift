public import MediaTime

/// Something that an asset can be asked for, with the type of the answer.
public struct AssetProperty<Value: Sendable>: Sendable {
    let name: String
    let work: AssetWork
    let read: @Sendable (AssetFindings) -> Value?
}

/// What has to be done for a property; several properties share one piece of work.
enum AssetWork: Hashable, Sendable, CaseIterable {
    /// Opening the container and reading its header.
    case open
    /// Reading every sample once.
    case measure
}

/// What a piece of work brought to light.
struct AssetFindings: Sendable {
    var containerName = ""
    var tracks: [Track] = []
    var duration = MediaTime.indefinite
    var startTime = MediaTime.indefinite
    var metadata = Metadata()
    var chapters: [Chapter] = []
    var byteCount: Int64?
    var isSeekable = false
    var measuredDuration: MediaTime?
}

extension AssetProperty {
    /// What is known about a property right now; asking does no work.
    public enum Status: Sendable {
        case unknown, loading
        case loaded(Value)
        case failed(MediaError)
        /// Everybody who waited for it gave up; asking again starts again.
        case cancelled
    }

    private init(_ name: String, _ read: @escaping @Sendable (AssetFindings) -> Value) {
        self.name = name
        work = .open
        self.read = read
    }
}

extension AssetProperty where Value == [Track] {
    /// Every track, in the container's order: `Track.index` is the position here.
    public static var tracks: Self { Self("tracks") { $0.tracks } }
}

extension AssetProperty where Value == MediaTime {
    /// As the container tells it; indefinite for a stream and for a file that is still being written.
    public static var duration: Self { Self("duration") { $0.duration } }
    /// Presentation time of the first sample of any track; indefinite where the container does not say.
    public static var startTime: Self { Self("startTime") { $0.startTime } }
    /// From the first sample's presentation to the last one's end, found by reading every sample: exact, and slow.
    ///
    /// Fails for a file that is cut off, while the other properties do not.
    public static var measuredDuration: Self {
        Self(name: "measuredDuration", work: .measure) { $0.measuredDuration }
    }
}

extension AssetProperty where Value == Metadata {
    /// Tags of the whole file.
    public static var metadata: Self { Self("metadata") { $0.metadata } }
}

extension AssetProperty where Value == [Chapter] {
    /// In order of their start.
    public static var chapters: Self { Self("chapters") { $0.chapters } }
}

extension AssetProperty where Value == String {
    /// libavformat's name of the container.
    public static var containerName: Self { Self("containerName") { $0.containerName } }
}

extension AssetProperty where Value == Int64? {
    /// Size in bytes; `nil` where a server does not tell.
    public static var byteCount: Self { Self("byteCount") { $0.byteCount } }
}

extension AssetProperty where Value == Bool {
    /// Whether reading may start elsewhere than at the beginning.
    public static var isSeekable: Self { Self("isSeekable") { $0.isSeekable } }
}
