/// What a Dolby Vision configuration record says of its track (`dvcC`, `dvvC`).
public struct DolbyVisionConfiguration: Sendable, Hashable {
    public var profile: Int
    /// 0 for none, 1 for HDR10, 2 for SDR, 4 for HLG: what the picture is without its reference processing units.
    public var compatibility: Int

    /// - Returns: `nil` for an attachment of another kind.
    public init?(_ attachment: Attachment) {
        // libavutil's AVDOVIDecoderConfigurationRecord: eight bytes of one number each.
        guard attachment.kind == .dolbyVision, attachment.bytes.count >= 8 else { return nil }
        profile = Int(attachment.bytes[2])
        compatibility = Int(attachment.bytes[7])
    }
}
