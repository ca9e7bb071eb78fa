internal import CFFmpeg
internal import Foundation

/// The bytes of a URL at any place, over libavformat's own protocols: what the demuxer would read.
///
/// Every call may block on the network; another thread stops it through the `InterruptFlag`.
package final class ByteSource {
    private var context: UnsafeMutablePointer<AVIOContext>?
    private let location: String
    private let interrupt: InterruptFlag

    /// - Parameter isPatient: it was there before (`Demuxer.patience`).
    /// - Throws: `.notFound`, `.notPermitted`, `.cancelled`, `.timedOut`.
    package init(location: String, isPatient: Bool = false, interrupt: InterruptFlag? = nil) throws(MediaError) {
        _ = CodecLog.installed
        let interrupt = interrupt ?? InterruptFlag()
        self.location = location
        self.interrupt = interrupt
        var dictionary: OpaquePointer?
        defer { av_dict_free(&dictionary) }
        let patience = isPatient ? Demuxer.patience(for: location) : [:]
        for (key, value) in Demuxer.protocolOptions(location) + patience { av_dict_set(&dictionary, key, value, 0) }
        var callback = AVIOInterruptCB(callback: InterruptFlag.callback, opaque: interrupt.opaque)
        let code = avio_open2(&context, Demuxer.address(location), AVIO_FLAG_READ, &callback, &dictionary)
        guard code >= 0 else { throw Demuxer.openFailure(location, code: code, interrupt: interrupt) }
    }

    deinit { avio_closep(&context) }

    /// `nil` where nobody tells it, or where no place in it can be read by itself.
    package var size: Int64? {
        guard let context, context.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else { return nil }
        let size = avio_size(context)
        return size > 0 ? size : nil
    }

    /// Fewer bytes than `count` only at the end.
    package func read(at offset: Int64, count: Int) throws(MediaError) -> [UInt8] {
        guard let context else { return [] }
        let place = avio_seek(context, offset, SEEK_SET)
        try check(Int32(clamping: min(0, place)), .asset, "Reading \(location) failed.")
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let part = bytes.withUnsafeMutableBytes { buffer -> Int32 in
                guard let base = buffer.baseAddress else { return 0 }
                return avio_read(
                    context, base.advanced(by: filled).assumingMemoryBound(to: UInt8.self), Int32(count - filled))
            }
            if part == weft_averror_eof() || part == 0 { break }
            if part < 0 { throw Demuxer.openFailure(location, code: part, interrupt: interrupt) }
            filled += Int(part)
        }
        return Array(bytes[..<filled])
    }
}
