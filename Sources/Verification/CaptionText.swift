internal import Foundation
internal import Media

/// What a subtitle says, without how it looks, so that the same words in two formats are equal.
enum CaptionText {
    /// - Returns: `nil` for pictures and for formats that are not known here.
    static func plain(_ sample: Sample) -> String? {
        let bytes = sample.withUnsafeBytes { Array($0) }
        switch sample.format.codecName {
        case "mov_text":
            // 16 bits of length, the text, boxes of style (3GPP TS 26.245 §5.17).
            guard bytes.count >= 2 else { return "" }
            let length = Int(bytes[0]) << 8 | Int(bytes[1])
            return strip(String(decoding: bytes[2..<min(bytes.count, 2 + length)], as: UTF8.self))
        case "subrip", "text", "webvtt": return strip(String(decoding: bytes, as: UTF8.self))
        case "ass", "ssa":
            // ReadOrder, Layer, Style, Name, three margins, Effect, Text (the Matroska mapping of ASS).
            let fields = String(decoding: bytes, as: UTF8.self)
                .split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
            return fields.count == 9 ? strip(String(fields[8])) : nil
        default: return nil
        }
    }

    private static func strip(_ text: String) -> String {
        var text = text.replacingOccurrences(of: "\r\n", with: "\n")
            .replacingOccurrences(of: "\\N", with: "\n").replacingOccurrences(of: "\\n", with: "\n")
            .replacingOccurrences(of: "\\h", with: " ")
        for pattern in ["\\{\\\\[^}]*\\}", "</?(?:b|i|u|s|c|v|lang|ruby|rt|font)(?:[ .][^>]*)?>"] {
            text = text.replacingOccurrences(of: pattern, with: "", options: [.regularExpression, .caseInsensitive])
        }
        for (name, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")] {
            text = text.replacingOccurrences(of: name, with: sign)
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
