internal import CFFmpeg
internal import Foundation

/// What libavformat asks while it waits for one input: whether somebody wants it stopped, and whether a server has been silent for too long.
///
/// libavformat's own time limits are each for one attempt, and its attempts to connect again add up to minutes: longer than a slot may
/// stand still. Asked by the thread that reads, as its properties are.
final class InputWatch: @unchecked Sendable {
    let interrupt: InterruptFlag
    /// Whose bytes count; `nil` before it is opened.
    var context: UnsafeMutablePointer<AVFormatContext>?
    /// `nil` for files: a disk takes the time that it takes.
    private let patience: Duration?
    private var bytes: Int64 = 0
    private var silentSince = ContinuousClock.now
    private var lastAsked = ContinuousClock.now
    /// Where the log stood before this input was opened: what it holds from before is about others.
    let mark = CodecLog.mark
    /// The last call was ended because nothing came.
    private(set) var isSilent = false

    /// Silence after which a server is left.
    static let patience = Duration.seconds(30)
    /// It asks ten times a second while it waits; after a longer pause it waits for something else.
    private static let pause = Duration.seconds(1)

    init(_ interrupt: InterruptFlag, of location: String) {
        self.interrupt = interrupt
        patience = Demuxer.isWeb(location) ? Self.patience : nil
    }

    /// The owner of the libav context must keep this watch alive.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                return Unmanaged<InputWatch>.fromOpaque(opaque).takeUnretainedValue().mustStop ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }

    private var mustStop: Bool {
        if interrupt.isInterrupted || interrupt.isPastDeadline { return true }
        guard let patience else { return false }
        let now = ContinuousClock.now
        let arrived = context?.pointee.pb?.pointee.bytes_read ?? 0
        if arrived != bytes || now - lastAsked > Self.pause {
            bytes = arrived
            silentSince = now
            isSilent = false
        }
        lastAsked = now
        if now - silentSince > patience { isSilent = true }
        return isSilent
    }
}
