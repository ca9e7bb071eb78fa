/// The version that `weft --version`, the man page and reports state.
enum Version {
    static let number = "0.1.0"
}
