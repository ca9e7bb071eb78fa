package import ClusterProtocol
package import Media

extension SampleTable.Entry {
    /// What a table says of a sample; its bytes and attachments go beside it.
    package init(_ sample: Sample) {
        var flags: SampleTable.Flags = sample.isSync ? .sync : []
        if sample.isDiscarded { flags.insert(.discard) }
        if sample.isCorrupt { flags.insert(.corrupt) }
        self.init(
            pts: sample.pts ?? SampleTable.noTime, dts: sample.dts ?? SampleTable.noTime, duration: sample.duration,
            size: UInt32(clamping: sample.size), flags: flags)
    }
}
