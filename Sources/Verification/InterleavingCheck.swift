internal import Media

/// How far apart in a file the sound and the picture of one moment lie: by how much time a reader that goes through the file from
/// its beginning has to keep of one track until it meets the other's (ISO/IEC 14496-12 §8.7.5 leaves the order to the writer).
struct InterleavingCheck {
    private var places: [(position: Int64, time: Double)] = []

    mutating func add(_ sample: Sample, type: MediaType) {
        guard type == .video || type == .audio, let position = sample.position, let time = sample.dts ?? sample.pts
        else { return }
        let unit = sample.timeBase
        places.append((position, Double(time) * Double(unit.numerator) / Double(unit.denominator)))
    }

    /// The longest time by which a sample comes after one that is decoded later; seconds.
    var distance: Double {
        var latest = -Double.infinity
        var longest = 0.0
        for place in places.sorted(by: { $0.position < $1.position }) {
            latest = max(latest, place.time)
            longest = max(longest, latest - place.time)
        }
        return longest
    }
}
