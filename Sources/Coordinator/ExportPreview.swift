package import ClusterProtocol
package import Media
package import SegmentPlan
package import SourceAccess

/// What an export would make of its source, said without encoding anything: the same decisions, from the same code.
package struct ExportPreview: Sendable {
    /// For people: "MP4".
    package var container: String
    package var segments: [Segment]
    package var carried: [CarriedItem]
    package var losses: [String]
    package var warnings: [String]

    /// - Parameter index: the source's, made for the order's segment length.
    /// - Throws: what would stop the export before its first lease.
    package init(_ order: ExportOrder, index: SourceIndex, interrupt: InterruptFlag) throws(Failure) {
        // Where a copy may be cut is asked of other keyframes.
        let isCut = order.settings.videoCodec == .copy && (order.settings.start ?? order.settings.end) != nil
        let planned = try ExportPlanner(order, interrupt: interrupt).plan(known: isCut ? nil : index)
        container = planned.stitch.container.description
        segments = planned.segments
        carried = planned.carried
        losses = planned.losses
        warnings = planned.warnings
    }
}
