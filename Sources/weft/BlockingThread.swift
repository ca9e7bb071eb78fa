internal import Foundation

/// Runs blocking work (demuxing, decoding, opening encoders) on a thread of its own: the cooperative pool has one thread a
/// core, and whoever blocks it stops all else.
enum BlockingThread {
    /// A decoder's own frames on the stack are large; the default of a secondary thread is half a megabyte on some systems.
    private static let stackSize = 4 << 20

    static func run<Value: Sendable, Failure: Error>(
        _ name: String, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let thread = Thread {
                let result: Result<Value, Failure>
                do throws(Failure) {
                    result = .success(try work())
                } catch {
                    result = .failure(error)
                }
                continuation.resume(returning: result)
            }
            thread.name = name
            thread.stackSize = stackSize
            thread.start()
        }
        return try result.get()
    }
}
