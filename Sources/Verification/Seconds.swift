internal import Foundation

/// Seconds as text for people.
enum Seconds {
    /// "12.345 s".
    static func text(_ seconds: Double) -> String {
        String(format: "%.3f s", locale: Locale(identifier: "en_US_POSIX"), seconds)
    }

    /// "+21.3 ms".
    static func signedMilliseconds(_ seconds: Double) -> String {
        String(format: "%+.1f ms", locale: Locale(identifier: "en_US_POSIX"), seconds * 1000)
    }

    /// "0.000012 s", for errors that may be small.
    static func fine(_ seconds: Double) -> String {
        String(format: "%.6f s", locale: Locale(identifier: "en_US_POSIX"), seconds)
    }
}
