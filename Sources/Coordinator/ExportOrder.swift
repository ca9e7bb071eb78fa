package import ClusterProtocol

/// One export as it is asked for: what `weft export` makes of its command line.
package struct ExportOrder: Sendable {
    /// An absolute path or an http(s) URL.
    package var source: String
    /// An absolute path.
    package var destination: String
    package var settings: ExportSettings
    /// Names of the options somebody stated; a default may be adapted to the source, a stated one may not.
    package var stated: Set<String>
    /// Slots; `nil` for as many as the cores carry.
    package var workers: Int?
    package var overwrite: Bool
    package var resume: Bool
    /// Directory for spool and job store.
    package var stateDirectory: String
    /// Program whose `slot` command runs the leases.
    package var executable: String

    package init(
        source: String, destination: String, settings: ExportSettings, stated: Set<String> = [], workers: Int? = nil,
        overwrite: Bool = false, resume: Bool = false, stateDirectory: String, executable: String
    ) {
        self.source = source
        self.destination = destination
        self.settings = settings
        self.stated = stated
        self.workers = workers
        self.overwrite = overwrite
        self.resume = resume
        self.stateDirectory = stateDirectory
        self.executable = executable
    }
}
