/// Holds the presentation times of an output against those that are expected: both sorted, in one unit, streamed.
///
/// A time within the tolerance of the next expected one is that frame. Otherwise it is the frame it is nearest to, with an
/// error, unless a neighbour fits better: then one of them is missing, or there is one too many. Looking one time ahead on both
/// sides tells a moved frame from a lost or a doubled one.
struct TimelineComparison {
    /// How far a time may be off.
    let tolerance: Int128
    /// Beyond this two times are not the same frame moved.
    let reach: Int128

    private(set) var expected = 0
    private(set) var found = 0
    private(set) var missing = Tally()
    private(set) var surplus = Tally()
    /// Frames found whose time is wrong by more than the tolerance.
    private(set) var moved = Tally()
    private(set) var largestError: Int128 = 0
    private(set) var errorSum: Double = 0
    /// Where and by how much times are off, with the first and the last match, for a plot: bounded, the largest are kept.
    private(set) var errors: [(time: Int128, error: Int128)] = []
    private static let keptErrors = 4096

    /// A number, and the first few of what was counted.
    struct Tally {
        private(set) var count = 0
        /// As many as a report names.
        var examples: ArraySlice<Int128> { times.prefix(5) }
        /// As many as are kept.
        private(set) var times: [Int128] = []

        mutating func add(_ time: Int128) {
            count += 1
            if times.count < 4096 { times.append(time) }
        }
    }

    private var ahead: [Int128] = []
    private var pending: Int128?
    private var lastMatch: Int128?

    init(tolerance: Int128, reach: Int128) {
        self.tolerance = tolerance
        self.reach = reach
    }

    /// Takes the next time of the output.
    ///
    /// - Parameter next: the next expected time; `nil` after the last, and ever after.
    mutating func take<Failure: Error>(
        _ time: Int128, next: () throws(Failure) -> Int128?
    ) throws(Failure) {
        found += 1
        if let pending { try settle(pending, before: time, next: next) }
        pending = time
    }

    /// The output has ended.
    mutating func finish<Failure: Error>(next: () throws(Failure) -> Int128?) throws(Failure) {
        if let pending { try settle(pending, before: nil, next: next) }
        pending = nil
        while let time = try peek(0, next) {
            missing.add(time)
            ahead.removeFirst()
        }
    }

    /// In units of the comparison.
    var meanError: Double { matches > 0 ? errorSum / Double(matches) : 0 }
    private var matches: Int { found - surplus.count }

    private mutating func settle<Failure: Error>(
        _ time: Int128, before following: Int128?, next: () throws(Failure) -> Int128?
    ) throws(Failure) {
        while let goal = try peek(0, next) {
            let distance = abs(time - goal)
            if distance <= tolerance { return match(time, goal) }
            if time > goal {
                let second = try peek(1, next)
                if distance <= reach, second.map({ abs(time - $0) > distance }) ?? true { return match(time, goal) }
                missing.add(goal)
                ahead.removeFirst()
            } else {
                let isExtra =
                    distance > reach || lastMatch.map { abs(time - $0) <= distance } ?? false
                    || following.map { abs($0 - goal) <= distance } ?? false
                if isExtra { return surplus.add(time) }
                return match(time, goal)
            }
        }
        surplus.add(time)
    }

    private mutating func match(_ time: Int128, _ goal: Int128) {
        ahead.removeFirst()
        lastMatch = goal
        let error = abs(time - goal)
        if error > largestError || errors.isEmpty || (error > 0 && errors.count < Self.keptErrors) {
            errors.append((goal, time - goal))
        }
        largestError = max(largestError, error)
        errorSum += Double(error)
        if error > tolerance { moved.add(goal) }
    }

    private mutating func peek<Failure: Error>(
        _ index: Int, _ next: () throws(Failure) -> Int128?
    ) throws(Failure) -> Int128? {
        while ahead.count <= index {
            guard let time = try next() else { return nil }
            expected += 1
            ahead.append(time)
        }
        return ahead[index]
    }
}
