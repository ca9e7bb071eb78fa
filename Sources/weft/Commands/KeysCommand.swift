internal import ClusterProtocol
internal import Coordinator
internal import Foundation
internal import Messaging

/// `weft keys new|list|allow|revoke`, on the coordinator's machine.
enum KeysCommand {
    static let entry = CommandEntry(
        name: "keys",
        summary: "Make and manage the keys of a cluster",
        details: """
            A coordinator that other machines can reach lets in only keys that it knows. `new` makes one, allows it and writes \
            it to a file of mode 0600 to be carried to its user; `allow` takes a public key that was made elsewhere; `revoke` \
            takes one back, at once. A running coordinator sees every change.

            Roles: a worker runs leases; a client submits and controls jobs; an observer only looks.
            """,
        operands: [
            OperandEntry(
                name: "ACTION", help: "new, list, allow or revoke.",
                completion: .choices(["new", "list", "allow", "revoke"])),
            OperandEntry(
                name: "KEY", help: "allow: a public key. revoke: a name or a public key.", completion: .nothing,
                isOptional: true),
        ],
        options: [
            OptionEntry(
                name: "role", value: "ROLE", help: "worker, client or observer.",
                completion: .choices(KeyRing.roles), isSetting: false),
            OptionEntry(name: "name", letter: "n", value: "NAME", help: "Whose key it is.", isSetting: false),
            OptionEntry(
                name: "out", value: "FILE", help: "Where `new` writes the key. Default NAME.key.", completion: .file,
                isSetting: false),
            OptionEntry(
                name: "state", value: "DIR", help: "The coordinator's state. Default $XDG_STATE_HOME/weft.",
                completion: .directory),
            OptionTable.config,
            OptionTable.json,
        ],
        examples: [
            .init(line: "weft keys new --role worker --name node7", meaning: "writes node7.key"),
            .init(line: "weft keys revoke node7", meaning: "takes it back"),
        ],
        run: run)

    private static let run: @Sendable (Invocation) async throws -> ExitCode = { invocation in
        let reader = try ClusterRequest.reader(invocation)
        let state = ExportRequest.location(
            reader.text("state") ?? ExportRequest.defaultStateDirectory(invocation.environment))
        let ring = KeyRing(state: state)
        let isJSON = invocation.has("json")
        switch invocation.operands[0] {
        case "list":
            let entries = try ring.entries()
            if isJSON { try JSONOutput.print(["keys": entries]) } else { show(entries) }
        case "new":
            let (name, role) = try identity(invocation)
            let path = ExportRequest.location(invocation.value(of: "out") ?? name + ".key")
            let entry = try ring.makeKey(name: name, role: role, path: path)
            if isJSON {
                try JSONOutput.print(NewKey(name: name, role: role, public: entry.publicKey, file: path))
            } else {
                StandardStream.output.write("\(path)\n")
            }
        case "allow":
            let (name, role) = try identity(invocation)
            guard let key = CurvePublicKey(try word(invocation)) else {
                throw UsageError("keys", "that is no public key: 40 characters of Z85.")
            }
            let entry = try ring.allow(name: name, role: role, key: key)
            if isJSON { try JSONOutput.print(entry) }
        default:
            let entry = try ring.revoke(word(invocation))
            if isJSON { try JSONOutput.print(entry) }
        }
        return .done
    }

    private struct NewKey: Encodable {
        var name: String
        var role: String
        var `public`: String
        var file: String
    }

    private static func word(_ invocation: Invocation) throws -> String {
        guard invocation.operands.count > 1 else { throw UsageError("keys", "KEY is missing.") }
        return invocation.operands[1]
    }

    private static func identity(_ invocation: Invocation) throws -> (name: String, role: String) {
        guard let role = invocation.value(of: "role") else {
            throw UsageError("keys", "--role is missing: \(KeyRing.roles.joined(separator: ", ")).")
        }
        guard KeyRing.roles.contains(role) else {
            throw UsageError("keys", "--role: '\(role)' is not one of \(KeyRing.roles.joined(separator: ", ")).")
        }
        let name = invocation.value(of: "name") ?? role
        guard (1...128).contains(name.utf8.count), !name.contains("/"), !name.hasPrefix(".") else {
            throw UsageError("keys", "--name: '\(name)' is no name: no slashes, at most 128 bytes.")
        }
        return (name, role)
    }

    private static func show(_ entries: [KeyRing.Entry]) {
        guard !entries.isEmpty else { return StandardStream.output.write("no keys\n") }
        var table = TextTable([.init("name"), .init("role"), .init("public key")])
        for entry in entries { table.add([entry.name, entry.role, entry.publicKey]) }
        StandardStream.output.write(table.text)
    }
}
