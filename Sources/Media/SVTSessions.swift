internal import CFFmpeg
internal import Synchronization

/// What all SVT-AV1 encoders of a process share.
enum SVTSessions {
    static func include(_ codec: UnsafePointer<AVCodec>) -> Bool { String(cString: codec.pointee.name) == "libsvtav1" }

    /// Runs what opens or closes an encoder; of SVT-AV1's one at a time. Opening one fills a table of the machine's processors that
    /// closing another frees (`lp_group` in 1.4), and nothing there guards it. libavcodec's own lock is about opening only.
    static func alone<Result>(_ codec: UnsafePointer<AVCodec>?, during body: () -> Result) -> Result {
        guard let codec, include(codec) else { return body() }
        return table.withLock { _ in body() }
    }

    private static let table = Mutex(())
}
