internal import ClusterProtocol
internal import Media
internal import MediaTime

/// Notes which stretches of a sound track are silent because packets of it could not be decoded.
struct SoundLosses {
    private struct Stretch {
        var start: MediaTime
        var end: MediaTime
        var packets: Int
    }

    /// Damaged packets that no silence stands for yet, at their own times.
    private var open: [Stretch] = []
    private var silent: [Stretch] = []

    mutating func failed(_ sample: Sample) {
        guard let time = sample.pts ?? sample.dts, let start = try? MediaTime(ticks: time, in: sample.timeBase),
            let end = try? MediaTime(ticks: time &+ max(1, sample.duration), in: sample.timeBase)
        else { return }
        open.append(Stretch(start: start, end: end, packets: 1))
    }

    /// Silence was put between these samples; a gap that the source has by itself is none of damage.
    mutating func filled(from start: Int64, to end: Int64, _ unit: TimeBase) {
        guard !open.isEmpty, let start = try? MediaTime(ticks: start, in: unit),
            let end = try? MediaTime(ticks: end, in: unit)
        else { return }
        silent.append(Stretch(start: start, end: end, packets: open.count))
        open = []
    }

    /// - Parameter zero: source time that is zero in the output.
    func ranges(of track: Int, zero: MediaTime) -> [JobReport.Damage] {
        (silent + open).sorted { $0.start < $1.start }.compactMap { stretch in
            guard let start = try? stretch.start.subtracting(zero), let end = try? stretch.end.subtracting(zero) else {
                return nil
            }
            return JobReport.Damage(
                track: track, kind: .concealed, start: start, end: end, frames: stretch.packets,
                detail: "damaged packets of sound, silence in their place")
        }
    }
}
