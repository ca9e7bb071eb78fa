internal import CXXHash

/// XXH3-128 over a growing run of bytes: the hash of a segment's samples, of spool files and of decoded pictures.
package struct ContentHash: ~Copyable {
    private let state: OpaquePointer?

    package init() {
        state = XXH3_createState()
        if let state { XXH3_128bits_reset(state) }
    }

    deinit { XXH3_freeState(state) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let state, let base = bytes.baseAddress, !bytes.isEmpty else { return }
        XXH3_128bits_update(state, base, bytes.count)
    }

    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// 32 hexadecimal digits, high half first.
    package func finish() -> String {
        guard let state else { return "" }
        let digest = XXH3_128bits_digest(state)
        return Self.hex(digest.high64) + Self.hex(digest.low64)
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
