extension SampleTable {
    /// What damage of the source did to the pictures of a run, as the one says who decoded them.
    package struct Damage: Hashable, Sendable {
        /// A source picture that did not come out.
        package struct Loss: Hashable, Sendable {
            package var time: Int64
            /// Time of the bad sample that explains it.
            package var cause: Int64

            package init(time: Int64, cause: Int64) {
                self.time = time
                self.cause = cause
            }
        }

        /// In order of time.
        package var dropped: [Loss]
        /// Times of pictures that came out with parts made up, in order.
        package var concealed: [Int64]

        package init(dropped: [Loss] = [], concealed: [Int64] = []) {
            self.dropped = dropped
            self.concealed = concealed
        }

        package var isEmpty: Bool { dropped.isEmpty && concealed.isEmpty }
    }

    /// Kinds of the attachments (of the first sample) that carry it: pairs of time and cause, and times; each little endian.
    private static let droppedKind = "dropped-pictures"
    private static let concealedKind = "concealed-pictures"

    /// Lists that exceed the limits of an attachment are cut: they only name what the receiver finds by itself.
    package var damage: Damage {
        get {
            let dropped = numbers(of: Self.droppedKind)
            return Damage(
                dropped: stride(from: 0, to: dropped.count - dropped.count % 2, by: 2).map {
                    Damage.Loss(time: dropped[$0], cause: dropped[$0 + 1])
                }, concealed: numbers(of: Self.concealedKind))
        }
        set {
            attachments.removeAll { $0.kind == Self.droppedKind || $0.kind == Self.concealedKind }
            guard !entries.isEmpty else { return }
            add(newValue.dropped.flatMap { [$0.time, $0.cause] }, as: Self.droppedKind)
            add(newValue.concealed, as: Self.concealedKind)
        }
    }

    private mutating func add(_ numbers: [Int64], as kind: String) {
        guard !numbers.isEmpty else { return }
        let limit = ProtocolLimits.attachmentBytes / 16 * 2
        let bytes = numbers.prefix(limit).flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
        }
        attachments.insert(Attachment(sample: 0, kind: kind, bytes: bytes), at: 0)
    }

    private func numbers(of kind: String) -> [Int64] {
        guard let list = attachments.first(where: { $0.kind == kind })?.bytes else { return [] }
        return stride(from: 0, to: list.count - list.count % 8, by: 8).map { start in
            list[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
    }
}
