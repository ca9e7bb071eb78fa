internal import CFFmpeg
internal import Foundation

/// The bytes of a URL at any place, over libavformat's own protocols: what the demuxer would read.
///
/// Every call may block on the network; another thread stops it through the `InterruptFlag`.
package final class ByteSource {
    private let location: String
    private let isPatient: Bool
    private let watch: InputWatch
    /// `nil` where nobody tells it, or where no place in it can be read by itself.
    package private(set) var size: Int64?

    /// - Parameter isPatient: it was there before (`Demuxer.patience`).
    /// - Throws: `.notFound`, `.notPermitted`, `.cancelled`, `.timedOut`.
    package init(location: String, isPatient: Bool = false, interrupt: InterruptFlag? = nil) throws(MediaError) {
        _ = CodecLog.installed
        self.location = location
        self.isPatient = isPatient
        watch = InputWatch(interrupt ?? InterruptFlag(), of: location)
        var context = try open(0..<1)
        defer { avio_closep(&context) }
        guard let context, context.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else { return }
        let size = avio_size(context)
        if size > 0 { self.size = size }
    }

    /// A range of the web is asked for as such: an open-ended request is answered with all that the sockets' buffers take.
    private func open(_ range: Range<Int64>) throws(MediaError) -> UnsafeMutablePointer<AVIOContext>? {
        var options = Demuxer.protocolOptions(location) + (isPatient ? Array(Demuxer.patience(for: location)) : [])
        if Demuxer.isWeb(location) {
            options += [("offset", "\(range.lowerBound)"), ("end_offset", "\(range.upperBound)")]
        }
        var dictionary: OpaquePointer?
        defer { av_dict_free(&dictionary) }
        for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
        var callback = watch.callback
        var context: UnsafeMutablePointer<AVIOContext>?
        let code = avio_open2(&context, Demuxer.address(location), AVIO_FLAG_READ, &callback, &dictionary)
        guard code >= 0 else { throw Demuxer.openFailure(location, code: code, watch: watch) }
        return context
    }

    /// Fewer bytes than `count` only at the end.
    package func read(at offset: Int64, count: Int) throws(MediaError) -> [UInt8] {
        let end = min(offset + Int64(count), size ?? .max)
        guard offset < end else { return [] }
        var context = try open(offset..<end)
        defer { avio_closep(&context) }
        guard let context else { return [] }
        if !Demuxer.isWeb(location) {
            let place = avio_seek(context, offset, SEEK_SET)
            try check(Int32(clamping: min(0, place)), .asset, "Reading \(location) failed.", since: watch.mark)
        }
        var bytes = [UInt8](repeating: 0, count: Int(end - offset))
        var filled = 0
        while filled < bytes.count {
            let part = bytes.withUnsafeMutableBytes { buffer -> Int32 in
                guard let base = buffer.baseAddress else { return 0 }
                return avio_read(
                    context, base.advanced(by: filled).assumingMemoryBound(to: UInt8.self),
                    Int32(clamping: buffer.count - filled))
            }
            if part == weft_averror_eof() || part == 0 { break }
            if part < 0 { throw Demuxer.openFailure(location, code: part, watch: watch) }
            filled += Int(part)
        }
        return Array(bytes[..<filled])
    }
}
