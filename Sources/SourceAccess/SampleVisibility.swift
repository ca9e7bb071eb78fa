package import Media

/// Whether a sample of the picture track shows a picture of its own. Ask for every sample of the track in decode order, from the
/// beginning or from a random access point.
package struct SampleVisibility: Sendable {
    private var leading = LeadingPictures()

    package init() {}

    /// The sample asked about last tells decoders to drop the pictures that wait to be shown, and refers to nothing before it.
    var dropsWaiting: Bool { leading.dropsWaiting }

    /// VP8 and VP9 code pictures that are only referred to (alternate reference frames), and HEVC has leading pictures that nothing
    /// can decode; such a sample is no frame of the film.
    ///
    /// RFC 6386 §9.1 (show_frame); VP9 Bitstream & Decoding Process Specification §6.2 (show_existing_frame, show_frame).
    package mutating func isShown(_ sample: Sample) -> Bool {
        guard Self.holdsPicture(sample) else { return false }
        return switch sample.format.codecName {
        case "vp8": sample.withUnsafeBytes { $0.first.map { $0 & 0x10 != 0 } ?? false }
        case "vp9": sample.withUnsafeBytes(Self.isShownVP9)
        case "hevc": leading.isShown(sample)
        default: true
        }
    }

    /// `false` for samples of headers alone: a chain of Ogg streams begins each link with its own (Theora §6.1: a set first bit), and a
    /// Dirac stream ends with an "end of sequence" (Dirac specification §9.6: pictures have 0x08 in their parse code).
    static func holdsPicture(_ sample: Sample) -> Bool {
        sample.withUnsafeBytes { holdsPicture(sample.format.codecName, $0) }
    }

    static func holdsPicture(_ codec: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        switch codec {
        case "theora": bytes.first.map { $0 & 0x80 == 0 } ?? true
        case "dirac": hasDiracPicture(bytes)
        default: true
        }
    }

    private static func hasDiracPicture(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 13 <= bytes.count, bytes[place..<(place + 4)].elementsEqual("BBCD".utf8) {
            if bytes[place + 4] & 0x08 != 0 { return true }
            let step = bytes[(place + 5)..<(place + 9)].reduce(0) { $0 << 8 | Int($1) }
            guard step > 0 else { return false }
            place += step
        }
        // Not what the codec says: the decoder decides.
        return place == 0 && bytes.count > 0
    }

    private static func isShownVP9(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let last = bytes.last, let first = bytes.first else { return false }
        // A superframe (Annex B: marker 110 in its last byte) ends with the picture that is shown.
        if last & 0xE0 == 0xC0 { return true }
        var shift = 2  // frame_marker
        func bit() -> UInt8 {
            defer { shift += 1 }
            return shift < 8 ? first >> (7 - UInt8(shift)) & 1 : 0
        }
        let profile = bit() | bit() << 1
        if profile == 3 { _ = bit() }
        if bit() == 1 { return true }  // show_existing_frame
        _ = bit()  // frame_type
        return bit() == 1  // show_frame
    }
}
