internal import CZeroMQ

/// One frame of a multipart message: immutable bytes, shared and never copied between threads.
///
/// A received frame owns libzmq's message. A frame to send keeps its bytes alive until libzmq's I/O thread has written them.
package struct MessageFrame: Sendable {
    let storage: FrameStorage

    init(storage: FrameStorage) { self.storage = storage }

    /// A copy of `bytes`.
    package init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { buffer in
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }

    /// A copy of `bytes`.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { buffer in
            buffer.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Bytes that `body` writes straight into the frame's own memory.
    /// - Parameters:
    ///   - count: bytes to make room for.
    ///   - body: returns how many bytes it wrote from the front, 0 to `count`.
    package init<Failure: Error>(
        count: Int, initializedBy body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        do {
            let written = min(count, max(0, try body(buffer)))
            storage = OwnedStorage(adopting: buffer, count: written)
        } catch {
            buffer.deallocate()
            throw error
        }
    }

    /// Bytes that belong to `owner`, which is released when they are sent; nothing is copied.
    /// - Parameter bytes: valid and unchanged as long as `owner` lives.
    package init(keeping owner: any Sendable, bytes: UnsafeRawBufferPointer) {
        storage = KeepingStorage(owner: owner, bytes: bytes)
    }

    package var count: Int { storage.bytes.count }

    /// A copy of the bytes.
    package var bytes: [UInt8] { Array(storage.bytes) }

    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(storage.bytes)
    }

    /// Metadata that libzmq attached to a received frame, such as `User-Id` and `Peer-Address`.
    func property(_ name: String) -> String? { (storage as? ReceivedStorage)?.property(name) }
}

// MARK: Sending

/// Below this libzmq's message holds the bytes itself or in one allocation: a copy is cheaper than a callback.
private let copyThreshold = 256

/// Called on libzmq's I/O thread (or the sender's) when the bytes are no longer needed.
private func releaseStorage(_ data: UnsafeMutableRawPointer?, _ hint: UnsafeMutableRawPointer?) {
    if let hint { Unmanaged<FrameStorage>.fromOpaque(hint).release() }
}

extension MessageFrame {
    /// Makes `message` refer to this frame's bytes. The message must be sent or closed.
    func write(to message: inout zmq_msg_t) throws(MessagingError) {
        guard count > copyThreshold else {
            guard zmq_msg_init_size(&message, count) == 0 else { throw .last("allocate a message") }
            if let source = storage.bytes.baseAddress, count > 0 {
                zmq_msg_data(&message)?.copyMemory(from: source, byteCount: count)
            }
            return
        }
        let hint = Unmanaged.passRetained(storage)
        let data = UnsafeMutableRawPointer(mutating: storage.bytes.baseAddress)
        guard zmq_msg_init_data(&message, data, count, releaseStorage, hint.toOpaque()) == 0 else {
            hint.release()
            throw .last("allocate a message")
        }
    }
}

// MARK: Storage

/// Immutable after `init`, so safe to share.
class FrameStorage: @unchecked Sendable {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// Memory of our own.
private final class OwnedStorage: FrameStorage, @unchecked Sendable {
    private let buffer: UnsafeMutableRawBufferPointer
    private let count: Int

    init(adopting buffer: UnsafeMutableRawBufferPointer, count: Int) {
        self.buffer = buffer
        self.count = count
    }

    override var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    deinit { buffer.deallocate() }
}

/// Memory of somebody whom we keep alive.
private final class KeepingStorage: FrameStorage, @unchecked Sendable {
    private let owner: any Sendable
    private let region: UnsafeRawBufferPointer

    init(owner: any Sendable, bytes: UnsafeRawBufferPointer) {
        self.owner = owner
        region = bytes
    }

    override var bytes: UnsafeRawBufferPointer { region }
}

/// A message as it came from libzmq. The structure stays where it is: short messages lie inside it.
final class ReceivedStorage: FrameStorage, @unchecked Sendable {
    let message: UnsafeMutablePointer<zmq_msg_t>

    override init() {
        message = .allocate(capacity: 1)
        message.initialize(to: zmq_msg_t())
        zmq_msg_init(message)
    }

    override var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: zmq_msg_data(message), count: zmq_msg_size(message))
    }

    /// Metadata is immutable and counted atomically by libzmq.
    func property(_ name: String) -> String? { zmq_msg_gets(message, name).map { String(cString: $0) } }

    deinit {
        zmq_msg_close(message)
        message.deallocate()
    }
}
