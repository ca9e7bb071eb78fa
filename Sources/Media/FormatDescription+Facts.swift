internal import CFFmpeg

extension FormatDescription {
    /// Bits a second, as far as the container or the parameter sets tell; `nil` where unknown.
    public var bitrate: Int64? { parameters.pointee.bit_rate > 0 ? parameters.pointee.bit_rate : nil }

    /// libavcodec's name of the profile (`High`, `Main 10`, `LC`); `nil` where unknown.
    public var profileName: String? {
        avcodec_profile_name(parameters.pointee.codec_id, parameters.pointee.profile).map { String(cString: $0) }
    }
}
