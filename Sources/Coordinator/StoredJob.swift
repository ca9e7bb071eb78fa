internal import ClusterProtocol
internal import MediaTime
internal import SegmentPlan

/// What was asked of a job, as the store keeps it.
struct StoredOrder: Codable, Sendable {
    var source: String
    var settings: ExportSettings
    /// Names of the options somebody stated.
    var stated: [String]
    var overwrite: Bool
    /// Reruns with other settings, each for its own segments.
    var overrides: [SegmentOverride] = []
    /// What the recipe's encoder makes of the reference frames; the first slot that answered decides.
    var fingerprint: String?
    /// The file under the target's name is one that this job finished before.
    var hasOutput: Bool?

    /// Only the newest word about a segment counts.
    mutating func add(_ override: SegmentOverride) {
        let fresh = Set(override.segments)
        for index in overrides.indices { overrides[index].segments.removeAll { fresh.contains($0) } }
        overrides.removeAll { $0.segments.isEmpty }
        if override.settings != nil || override.node != nil { overrides.append(override) }
    }
}

/// Segments that run with other settings, or on one node only.
struct SegmentOverride: Codable, Sendable {
    var segments: [Int]
    var settings: ExportSettings?
    var node: String?
}

/// What is known of a job's segments without planning it again.
struct StoredPlan: Codable, Sendable {
    /// Hash of everything that decides the output: it tells that a source has changed.
    var identity: String
    var segments: [Segment]
    var timeBase: TimeBase
    var duration: MediaTime
    var expectedFrames: Int
    /// What reruns with other settings have to fit; absent in jobs of earlier versions.
    var base: RerunBase?

    func seconds(of segment: Segment) -> Double {
        Double(segment.end - segment.start) * Double(timeBase.numerator) / Double(timeBase.denominator)
    }
}

extension ExportSettings {
    /// These settings with those of `other` that were stated.
    ///
    /// Encoder options are laid over each other; one with an empty value takes the option away.
    func overridden(by other: ExportSettings, stated: some Sequence<String>) -> ExportSettings {
        var merged = self
        for name in stated {
            switch name {
            case "encoder": merged.encoder = other.encoder
            case "quality", "bitrate", "size": merged.rate = other.rate
            case "encoder-option":
                merged.encoderOptions.merge(other.encoderOptions) { _, fresh in fresh }
                merged.encoderOptions = merged.encoderOptions.filter { !$0.value.isEmpty }
            case "filter": merged.filter = other.filter
            case "threads": merged.threads = other.threads
            case "stall-limit": merged.stallSeconds = other.stallSeconds
            default: break
            }
        }
        return merged
    }

    /// The options that a rerun of single segments may change; the others decide the whole file.
    package static let rerunOptions: Set<String> = [
        "encoder", "quality", "bitrate", "size", "encoder-option", "filter", "threads", "stall-limit",
    ]
}
