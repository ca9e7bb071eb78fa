internal import CFFmpeg
internal import Foundation

/// The one error of this library: where it broke, libav's code, and the last lines of the codec's own log.
public struct MediaError: Error, Sendable, CustomStringConvertible {
    /// The part of the way that broke.
    public enum Boundary: String, Sendable, CaseIterable {
        case asset, timing, format, decoder, filter, encoder, hardware, storage, finalization, resources, cancelled
    }

    /// The kinds a program may want to tell apart.
    public enum Reason: Sendable {
        /// No such file, directory, track or host.
        case notFound
        /// libavformat knows no container that these bytes could be.
        case notMedia
        /// A movie without the index that tells where its samples lie.
        case unfinished
        /// The operating system or the server refuses.
        case notPermitted
        /// The disk or the quota is full.
        case noSpace
        /// Samples that need a key.
        case encrypted
        /// This build of FFmpeg, or the container, cannot do it.
        case unsupported
        /// Bytes or times that break their own format: damaged, or cut off.
        case invalidData
        /// An option, a name or a call that cannot be: the caller's mistake. The message names it.
        case invalidSettings
        /// The target exists and was not to be replaced.
        case alreadyExists
        /// Somebody asked to stop.
        case cancelled
        case timedOut
        /// A server gives no ranges, and the container wants to be read at several places.
        case noRanges
        case outOfMemory
        /// See the code and the log.
        case other
    }

    /// Where.
    public var boundary: Boundary
    /// What a program may act on.
    public var reason: Reason
    /// One sentence for people.
    public var message: String
    /// libav's (negative) or errno-derived code; 0 when the error is this library's own.
    public var code: Int32
    /// The codec's or container's last log lines, oldest first.
    public var log: [String]

    public init(_ boundary: Boundary, _ reason: Reason, _ message: String, code: Int32 = 0, log: [String] = []) {
        self.boundary = boundary
        self.reason = reason
        self.message = message
        self.code = code
        self.log = log
    }

    public var description: String { code == 0 ? message : "\(message) (\(Self.text(of: code)))" }

    /// libav's own words for a code.
    public static func text(of code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            av_strerror(code, base, buffer.count)
            return String(cString: base)
        }
    }
}

/// The choke point from a libav return value to a typed error.
///
/// - Parameters:
///   - context: the libav object whose log lines explain the failure.
///   - mark: lines from before it are about something else.
@discardableResult
func check(
    _ code: Int32, _ boundary: MediaError.Boundary, _ message: @autoclosure () -> String,
    context: UnsafeRawPointer? = nil, since mark: UInt64 = 0
) throws(MediaError) -> Int32 {
    guard code < 0 else { return code }
    let reason: MediaError.Reason =
        switch code {
        case weft_averror(ENOENT): .notFound
        case weft_averror(EACCES), weft_averror(EPERM), weft_averror(EROFS): .notPermitted
        case weft_averror(ENOSPC), weft_averror(EDQUOT): .noSpace
        case weft_averror(ENOMEM): .outOfMemory
        case weft_averror(ENOSYS), weft_averror_decoder_not_found(), weft_averror_encoder_not_found(),
            weft_averror_patch_welcome():
            .unsupported
        case weft_averror(EINVAL), weft_averror_option_not_found(): .invalidSettings
        case weft_averror_invalid_data(): .invalidData
        case weft_averror_exit(): .cancelled
        case weft_averror(ETIMEDOUT): .timedOut
        default: .other
        }
    throw MediaError(boundary, reason, message(), code: code, log: CodecLog.recentLines(of: context, since: mark))
}
