/// Why there is no plan.
package enum SegmentPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The track has no duration.
    case emptyTrack
    /// The range to export has nothing in common with the track.
    case emptyRange
    /// The target is neither a positive number nor +∞.
    case invalidTarget
    /// The minimum is negative or no number.
    case invalidMinimum

    package var description: String {
        switch self {
        case .emptyTrack: "the video track has no duration"
        case .emptyRange: "the range to export lies outside the video track"
        case .invalidTarget: "the segment duration must be positive"
        case .invalidMinimum: "the minimum segment duration must not be negative"
        }
    }
}
