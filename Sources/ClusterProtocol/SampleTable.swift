/// The times, sizes and flags of a run of samples in decode order, whose bytes travel or lie elsewhere, one after another.
///
/// Binary form, little endian: version UInt32 = 1, samples UInt32, attachments UInt32, reserved UInt32 = 0; per sample
/// pts Int64, dts Int64, duration Int64, size UInt32, flags UInt32; per attachment sample UInt32, kind length UInt16,
/// reserved UInt16 = 0, size UInt32, the kind in UTF-8, the bytes. Attachments are in order of their samples.
package struct SampleTable: Hashable, Sendable {
    package static let version: UInt32 = 1
    /// `pts` or `dts` of a sample that has none.
    package static let noTime = Int64.min

    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// A random access point.
        package static let sync = Flags(rawValue: 1)
        /// Decoded for reference only.
        package static let discard = Flags(rawValue: 2)
        /// The container or the encoder says that bytes are missing or wrong.
        package static let corrupt = Flags(rawValue: 4)
    }

    package struct Entry: Hashable, Sendable {
        /// Ticks; `noTime` where there is none.
        package var pts: Int64
        package var dts: Int64
        /// Ticks, at least 0.
        package var duration: Int64
        /// Bytes.
        package var size: UInt32
        package var flags: Flags

        package init(pts: Int64, dts: Int64, duration: Int64, size: UInt32, flags: Flags) {
            self.pts = pts
            self.dts = dts
            self.duration = duration
            self.size = size
            self.flags = flags
        }
    }

    /// Side data of one sample.
    package struct Attachment: Hashable, Sendable {
        /// Index into `entries`.
        package var sample: Int
        package var kind: String
        package var bytes: [UInt8]

        package init(sample: Int, kind: String, bytes: [UInt8]) {
            self.sample = sample
            self.kind = kind
            self.bytes = bytes
        }
    }

    package var entries: [Entry]
    package var attachments: [Attachment]

    package init(entries: [Entry] = [], attachments: [Attachment] = []) {
        self.entries = entries
        self.attachments = attachments
    }

    /// Bytes of all samples: at most 2^22 × 2^32, which fits.
    package var payloadBytes: Int64 { entries.reduce(0) { $0 + Int64($1.size) } }
}
