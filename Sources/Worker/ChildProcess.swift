package import Foundation

/// Starts this program again as a child.
package enum ChildProcess {
    /// A process group of its own: the terminal's Ctrl-C is for the parent, who decides what becomes of the child's work.
    ///
    /// - Parameter descriptors: become the child's 0, 1, 2…
    /// - Returns: 0, or the system's error code.
    package static func spawn(
        _ process: inout pid_t, _ executable: String, _ arguments: [String], _ environment: [String: String],
        descriptors: [Int32]
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        let words = ([executable] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        return posix_spawn(&process, executable, &actions, &attributes, words, variables)
    }
}
