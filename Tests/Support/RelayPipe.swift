import Foundation

/// One direction of one connection: what was read and is not yet due or not yet taken.
final class RelayPipe {
    let direction: TCPRelay.Direction
    let from: Int32
    let to: Int32
    private var waiting: [(bytes: [UInt8], due: Double)] = []
    private var waitingBytes = 0
    private var hasEnded = false
    /// Bytes until the next one that is altered.
    private var untilAltered: Int?
    /// Bytes that may pass now, where a rate is set.
    private var allowance = 0.0
    private var allowanceTime = 0.0

    /// More is left with the sender, as in a full pipe. Enough for a delay at a fast link's rate.
    private static let capacity = 8 << 20

    init(_ direction: TCPRelay.Direction, from: Int32, to: Int32) {
        self.direction = direction
        self.from = from
        self.to = to
    }

    /// The sender has ended, and all of it has passed.
    var isDrained: Bool { hasEnded && waiting.isEmpty }

    /// What to poll for; shortens `patience` to when something is due.
    func wants(
        _ conditions: TCPRelay.Conditions, now: Double, patience: inout Double
    ) -> (reading: Bool, writing: Bool) {
        guard !conditions.stalled.contains(direction) else { return (false, false) }
        var isDue = false
        if let first = waiting.first {
            isDue = first.due <= now
            if isDue, let rate = conditions.rate {
                earn(rate, now: now)
                isDue = allowance >= 1
                if !isDue { patience = min(patience, (1 - allowance) / rate) }
            }
            if first.due > now { patience = min(patience, first.due - now) }
        }
        // Ends are read late, too: with a delay they follow what was sent before them.
        return (!hasEnded && waitingBytes < Self.capacity, isDue)
    }

    private func earn(_ rate: Double, now: Double) {
        // A tenth of a second may come at once.
        allowance = min(allowance + rate * max(0, now - allowanceTime), max(rate / 10, 1))
        allowanceTime = now
    }

    /// - Returns: how much was read, and how much of it altered.
    func read(
        _ conditions: TCPRelay.Conditions, now: Double, random: inout SeededRandom
    ) -> (bytes: Int, altered: Int) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(from, &bytes, bytes.count, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { hasEnded = true }
            return (0, 0)
        }
        bytes.removeLast(bytes.count - count)
        let altered = alter(&bytes, conditions.corruptsOneIn, &random)
        waiting.append((bytes, now + conditions.delay))
        waitingBytes += count
        return (count, altered)
    }

    private func alter(_ bytes: inout [UInt8], _ oneIn: Int?, _ random: inout SeededRandom) -> Int {
        guard let oneIn else {
            untilAltered = nil
            return 0
        }
        var altered = 0
        var next = untilAltered ?? Int(random.next() % UInt64(2 * max(1, oneIn)))
        while next < bytes.count {
            bytes[next] ^= UInt8(1 + random.next() % 255)
            altered += 1
            next += 1 + Int(random.next() % UInt64(2 * max(1, oneIn)))
        }
        untilAltered = next - bytes.count
        return altered
    }

    /// Sends what is due.
    /// - Returns: `false` when nobody takes it any more.
    func write(_ conditions: TCPRelay.Conditions, now: Double) -> Bool {
        while let first = waiting.first, first.due <= now {
            var count = first.bytes.count
            if conditions.rate != nil { count = min(count, Int(allowance)) }
            guard count > 0 else { return true }
            let sent = send(to, first.bytes, count, 0)
            guard sent >= 0 else { return errno == EAGAIN || errno == EINTR }
            if conditions.rate != nil { allowance -= Double(sent) }
            waitingBytes -= sent
            if sent == first.bytes.count {
                waiting.removeFirst()
            } else {
                waiting[0].bytes.removeFirst(sent)
                return true
            }
        }
        return true
    }
}
