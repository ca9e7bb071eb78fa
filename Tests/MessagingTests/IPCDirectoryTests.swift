import Foundation
import Testing

@testable import Messaging

@Suite struct IPCDirectoryTests {
    @Test("The directory is private, and gone when it is let go")
    func lifetime() throws {
        var path = ""
        do {
            let directory = try IPCDirectory()
            path = directory.path
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            #expect(try directory.address("c") == "ipc://\(path)/c")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A place whose paths are too long for a socket is passed over")
    func longParent() throws {
        let parent = NSTemporaryDirectory() + String(repeating: "d", count: 90)
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let directory = try IPCDirectory(preferred: parent)
        #expect(!directory.path.hasPrefix(parent))
    }

    @Test("A name that does not fit or leads elsewhere is refused")
    func names() throws {
        let directory = try IPCDirectory()
        for name in ["", "..", "a/b", String(repeating: "n", count: 100)] {
            #expect(throws: MessagingError.self) { try directory.address(name) }
        }
    }
}
