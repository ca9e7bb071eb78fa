internal import ClusterProtocol
internal import Foundation
internal import Media
internal import Synchronization

/// Ctrl-C (SIGINT), SIGTERM and SIGHUP. The first asks for a clean stop; the second removes what is half written and ends the process at
/// once with 130.
///
/// A signal handler may do next to nothing, so it writes a byte to a pipe, and a thread that reads it calls the action.
/// Blocking the signals for `sigwait` instead would hand the mask on to every child process.
final class Interruption: Sendable {
    private let actions = Mutex<(isRequested: Bool, list: [@Sendable () -> Void])>((false, []))

    /// Whether a clean stop has been asked for.
    var isRequested: Bool { actions.withLock { $0.isRequested } }

    /// Calls `action` on the first signal, at once when that has been. It runs on the signal thread and must be short.
    func onRequest(_ action: @escaping @Sendable () -> Void) {
        let isLate = actions.withLock { state in
            if !state.isRequested { state.list.append(action) }
            return state.isRequested
        }
        if isLate { action() }
    }

    /// What the first signal does; a test or another part of the program may do it too.
    func request() {
        let list = actions.withLock { state in
            defer { state = (true, []) }
            return state.list
        }
        for action in list { action() }
    }

    /// Starts listening, once for the process.
    static func install() -> Interruption {
        let interruption = Interruption()
        var ends: [Int32] = [-1, -1]
        // Without a pipe (no descriptors left) the signals keep their default meaning, which is to end.
        guard pipe(&ends) == 0 else { return interruption }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Touched here first: a handler must not be the one that initializes a global.
        pipeEnd.store(ends[1], ordering: .relaxed)
        signals.store(0, ordering: .relaxed)
        isLineOpen.store(false, ordering: .relaxed)
        UnfinishedFiles.prepare()
        let reader = ends[0]
        let thread = Thread {
            var byte: UInt8 = 0
            while true {
                let count = read(reader, &byte, 1)
                if count == 1 { interruption.request() } else if errno != EINTR { return }
            }
        }
        thread.name = "signals"
        thread.start()
        for number in [SIGINT, SIGTERM, SIGHUP] { handle(number) }
        return interruption
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        // Started under nohup or in the background of a script: what is ignored stays ignored.
        if sigaction(number, nil, &action) == 0, isIgnored(action) { return }
        signal(number) { _ in
            let saved = errno
            if Interruption.signals.add(1, ordering: .relaxed).newValue >= 2 {
                UnfinishedFiles.removeAll()
                if Interruption.isLineOpen.load(ordering: .relaxed) { _ = write(2, "\n", 1) }
                _exit(ExitCode.interrupted.rawValue)
            }
            _ = write(Interruption.pipeEnd.load(ordering: .relaxed), "!", 1)
            errno = saved
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == 1
    }

    /// Tells whether the cursor stands behind an unfinished line, which an abrupt end has to close.
    static func lineIsOpen(_ isOpen: Bool) {
        isLineOpen.store(isOpen, ordering: .relaxed)
    }

    private static let signals = Atomic<Int>(0)
    private static let pipeEnd = Atomic<Int32>(-1)
    private static let isLineOpen = Atomic<Bool>(false)
}
