internal import Foundation

/// A note of what a running export has outside its directory, so that the next run can remove it when this one is killed.
struct Traces: Sendable {
    let path: String

    /// Notes an unfinished output file or a directory of sockets.
    func add(_ trace: String) {
        guard !trace.contains("\n"), let file = fopen(path, "ae") else { return }
        fputs(trace + "\n", file)
        fclose(file)
    }

    /// Removes what is noted. Only with the job's lock held: the owner is gone then.
    func clean() {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
        for trace in text.split(separator: "\n").map(String.init) {
            let name = trace.split(separator: "/").last.map(String.init) ?? ""
            // A note is a file anybody with the right to it can write: nothing but what an export makes is removed.
            if name.hasPrefix("."), name.contains(".weft-"), name.hasSuffix(".part") {
                unlink(trace)
            } else if name.hasPrefix("weft-"), !name.contains(".") {
                unlink(trace + "/slots")
                rmdir(trace)
            }
        }
        unlink(path)
    }
}
