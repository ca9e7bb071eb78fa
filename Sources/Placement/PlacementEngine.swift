package import ClusterProtocol

/// What starts workers on machines: a batch system that has its own queue, limits and users.
package protocol PlacementEngine: Sendable {
    /// The workers that were submitted for this coordinator, by whichever process, and have not ended.
    func workers() throws(Failure) -> [PlacedWorker]
    /// - Returns: the ids of the new workers.
    func submit(_ count: Int) throws(Failure) -> [String]
    /// Those that have ended meanwhile are no error.
    func cancel(_ ids: [String]) throws(Failure)
}

/// A worker as its engine sees it.
package struct PlacedWorker: Hashable, Sendable {
    package var id: String
    /// Its name in the cluster.
    package var node: String
    /// Whether the engine has started it.
    package var hasStarted: Bool
    /// The engine is ending it; it may put it back into its queue.
    package var isEnding: Bool

    package init(id: String, node: String, hasStarted: Bool, isEnding: Bool = false) {
        self.id = id
        self.node = node
        self.hasStarted = hasStarted
        self.isEnding = isEnding
    }
}

/// What a worker is started with, whichever engine starts it.
package struct WorkerOrder: Hashable, Sendable {
    /// Path of `weft` where workers run.
    package var program: String
    package var coordinator: String
    package var keyFile: String?
    package var slots: Int
    package var threads: Int
    package var drainSeconds: Int

    package init(
        program: String, coordinator: String, keyFile: String?, slots: Int, threads: Int, drainSeconds: Int
    ) {
        self.program = program
        self.coordinator = coordinator
        self.keyFile = keyFile
        self.slots = slots
        self.threads = threads
        self.drainSeconds = drainSeconds
    }

    /// - Parameter name: the words that give the node's name, as a shell takes them.
    func commandLine(name: String) -> String {
        var words = [program, "worker", "--coordinator", coordinator].map(ShellWord.quoted)
        words += [
            "--name", name, "--slots", "\(slots)", "--threads", "\(threads)", "--drain-timeout", "\(drainSeconds)",
        ]
        if let keyFile { words += ["--key", ShellWord.quoted(keyFile)] }
        return words.joined(separator: " ")
    }
}

enum ShellWord {
    /// As a POSIX shell reads it back, whatever it holds (POSIX.1-2017 XCU 2.2.2).
    static func quoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
