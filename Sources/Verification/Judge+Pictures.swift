internal import ClusterProtocol
internal import Media
internal import MediaTime

/// The film's time line, and what is said of its pictures.
extension Judge {
    mutating func pictureTimes(
        _ source: TrackScan, _ output: TrackScan, shift: CommonShift, isFirst: Bool
    ) throws(Failure) {
        let track = source.track.index
        let clock = try CommonClock([source.track.timeBase, output.track.timeBase])
        // The first film's shift holds for all tracks; its clock may be another.
        let units = Int128((Double(shift.units) / Double(shift.clock.rate) * Double(clock.rate)).rounded())
        let comparison = TimelineComparison.whole(
            expected: source.times.map { clock.units($0, in: source.track.timeBase) },
            found: output.times.map { clock.units($0, in: output.track.timeBase) },
            shift: clock.rate == shift.clock.rate ? shift.units : units,
            tolerance: clock.tolerance(source.track.timeBase, output.track.timeBase), reach: clock.rate / 2)
        say(comparison, clock, track: track)
        if comparison.missing.count + comparison.surplus.count + comparison.moved.count > 0 {
            constantRate(source, output, track: track)
        }
        timeError(
            track: track, max: clock.seconds(comparison.largestError),
            mean: comparison.meanError / Double(clock.rate))
        if isFirst {
            timeErrors(comparison.errors.map { .init(seconds: clock.seconds($0.time), error: clock.seconds($0.error)) })
        }
        if output.falseSyncs > source.falseSyncs {
            find(
                .sync, track: track,
                "\(output.falseSyncs) of \(output.syncs.count) samples that the container calls keyframes are none: "
                    + "its table of sync samples is wrong or missing.")
        }
        if source.undecodable > 0 {
            note(
                .missing, track: track,
                "\(source.undecodable) samples at the start of the source show nothing and are not expected.")
        }
        if output.undecodable > 0 {
            find(.sync, track: track, "\(output.undecodable) pictures at the start of the output show nothing.")
        }
        decodeOrder(output, track: track)
    }

    private mutating func say(_ comparison: TimelineComparison, _ clock: CommonClock, track: Int) {
        func places(_ tally: TimelineComparison.Tally) -> String {
            tally.examples.map { Seconds.text(clock.seconds($0)) }.joined(separator: ", ")
                + (tally.count > tally.examples.count ? "…" : "")
        }
        let missing = comparison.missing
        if missing.count > 0, missing.times.count == missing.count,
            declared.explains(missing.times.map { clock.seconds($0) }, ofTrack: track)
        {
            note(
                .missing, track: track,
                "\(missing.count) pictures are missing, at \(places(missing)) of the output: the export's report names them as damaged."
            )
        } else if comparison.missing.count > 0 {
            find(
                .missing, track: track,
                "\(comparison.missing.count) of \(comparison.expected) pictures are missing, at \(places(comparison.missing)) of the output."
            )
        }
        if comparison.surplus.count > 0 {
            find(
                .duplicated, track: track,
                "\(comparison.surplus.count) pictures are there twice or belong nowhere, at \(places(comparison.surplus)) of the output."
            )
        }
        if comparison.moved.count > 0 {
            find(
                .timestamps, track: track,
                "\(comparison.moved.count) pictures have a wrong time, first at \(places(comparison.moved)): the error is "
                    + "\(Seconds.fine(clock.seconds(comparison.largestError))) at most, "
                    + "\(Seconds.fine(comparison.meanError / Double(clock.rate))) on average.")
        }
    }

    /// Why so many pictures are lost or doubled: most programs make a variable rate constant unless they are told not to.
    private mutating func constantRate(_ source: TrackScan, _ output: TrackScan, track: Int) {
        guard let rate = output.constantRate, source.constantRate == nil, source.times.count > 8 else { return }
        find(
            .timestamps, track: track,
            "The source's pictures follow each other at varying times, the output's at a constant "
                + "\((rate * 1000).rounded() / 1000) a second: pictures were doubled, dropped or moved for that.")
    }

    private mutating func decodeOrder(_ output: TrackScan, track: Int) {
        if output.order.backward > 0 || output.order.afterPresentation > 0 || output.order.absent > 0 {
            for complaint in output.order.complaints where !complaint.hasPrefix("The first") {
                find(.decodeOrder, track: track, complaint)
            }
        }
        if output.order.firstIsSync == false { find(.sync, track: track, "The first picture is no keyframe.") }
        if output.untimed > 0 {
            find(.timestamps, track: track, "\(output.untimed) samples of the output have no time.")
        }
    }

    // MARK: Shape

    mutating func pictureShape(_ source: Track, _ output: Track, seen: ShownPicture, _ shown: ShownPicture) {
        let isTurned = source.rotation != output.rotation
        let swapsSides = (source.rotation / 90).rounded().truncatingRemainder(dividingBy: 2) != 0
        let turnedIn = source.rotation != 0 && output.rotation == 0
        let looksTurned =
            turnedIn
            && (!swapsSides
                || (seen.width > seen.height) != (shown.width > shown.height))
        if isTurned {
            let text =
                "The picture is to be turned by \(Int(source.rotation))° in the source and by \(Int(output.rotation))° in the output"
            if looksTurned, swapsSides {
                note(.rotation, track: source.index, text + ": the pixels seem to be turned.")
            } else {
                find(.rotation, track: source.index, text + ".")
            }
        } else if source.transform != output.transform, source.rotation == output.rotation,
            source.isMirrored != output.isMirrored
        {
            find(.rotation, track: source.index, "The picture is mirrored in one of source and output.")
        }
        if seen.isWhole(in: shown) {
            return find(
                .cropping, track: source.index,
                "The source's container shows \(seen.width)×\(seen.height) of the picture, the output all "
                    + "\(shown.width)×\(shown.height).")
        }
        if (seen.width, seen.height) != (shown.width, shown.height) {
            note(
                .size, track: source.index,
                "The pictures are \(seen.width)×\(seen.height) in the source and \(shown.width)×\(shown.height) in the output."
            )
        }
        let (wanted, found) = (seen.aspect, shown.aspect)
        if !(isTurned && looksTurned), wanted > 0, found > 0, abs(wanted / found - 1) > 0.01 {
            find(
                .aspect, track: source.index,
                "The picture's shape changes: width over height is \(Self.ratio(wanted)) in the source, \(Self.ratio(found)) in the output."
            )
        }
    }

    private static func ratio(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }

    // MARK: Colour and HDR

    private static let highDynamicRange: Set = ["smpte2084", "arib-std-b67", "bt2020", "bt2020nc"]

    mutating func pictureContent(
        _ source: FirstPicture, _ output: FirstPicture, of track: Track, _ match: Track
    ) {
        let (wanted, found) = (source.colour, output.colour)
        func compare(_ name: String, _ left: String?, _ right: String?, assumed: String? = nil) {
            guard let left else {
                // Said of a picture of which nothing was known, "high dynamic range" changes what every screen shows.
                if let right, Self.highDynamicRange.contains(right) {
                    find(
                        .colour, track: track.index,
                        "The colour \(name) is not told in the source and \(right) in the output.")
                }
                return
            }
            guard left != right ?? assumed else { return }
            find(
                .colour, track: track.index,
                "The colour \(name) is \(left) in the source and \(right ?? "not told") in the output.")
        }
        compare("primaries", wanted.primaries, found.primaries)
        compare("transfer", wanted.transfer, found.transfer)
        // Unsaid, a picture of standard definition is taken for BT.601, which VP8 (RFC 6386 §9.2) always is.
        // The two names of BT.601 stand for the same numbers (Rec. ITU-T H.273 table 4, values 5 and 6).
        let standard: Set = ["bt470bg", "smpte170m"]
        let isStandard = track.format.height <= 576 && standard.contains(wanted.matrix ?? "")
        let isSameMatrix = standard.contains(wanted.matrix ?? "") && standard.contains(found.matrix ?? "")
        // Pictures of red, green and blue become others where the output's codec is given no such: matrix and range are then those
        // of the conversion.
        let isConverted = source.isRGB && !output.isRGB && output.isKnown
        if !isConverted {
            if !isSameMatrix {
                compare("matrix", wanted.matrix, found.matrix, assumed: isStandard ? wanted.matrix : nil)
            }
            // Nothing said means limited range (ISO/IEC 14496-10 §E.2.1 video_full_range_flag).
            compare("range", wanted.range ?? (source.isKnown ? "tv" : nil), found.range, assumed: "tv")
        } else if found.matrix == nil || found.matrix == "gbr" {
            find(
                .colour, track: track.index,
                "The pictures are RGB in the source; the output does not say with which matrix they became \(output.pixelFormat ?? "YUV")."
            )
        }
        if let left = wanted.chromaLocation, let right = found.chromaLocation, left != right {
            note(.colour, track: track.index, "Chroma lies \(left) in the source and \(right) in the output.")
        }
        if let left = source.pixelFormat, let right = output.pixelFormat, left != right {
            note(.colour, track: track.index, "The pixel format is \(left) in the source and \(right) in the output.")
        }
        highDynamicRange(source, output, track: track.index)
        if source.isInterlaced != output.isInterlaced, source.isKnown, output.isKnown {
            note(
                .picture, track: track.index,
                "The first picture is \(source.isInterlaced ? "interlaced" : "progressive") in the source and "
                    + "\(output.isInterlaced ? "interlaced" : "progressive") in the output.")
        }
    }

    private mutating func highDynamicRange(_ source: FirstPicture, _ output: FirstPicture, track: Int) {
        if let wanted = source.masteringDisplay {
            if let found = output.masteringDisplay {
                if !wanted.isNearly(found) {
                    find(.hdr, track: track, "The mastering display's values differ.")
                }
            } else {
                find(.hdr, track: track, "The mastering display metadata (mdcv) is lost.")
            }
        }
        if let wanted = source.contentLight {
            if let found = output.contentLight {
                if wanted != found { find(.hdr, track: track, "The content light level differs.") }
            } else {
                find(.hdr, track: track, "The content light level (clli) is lost.")
            }
        }
        for (kind, name) in FirstPicture.dynamicKinds where source.kinds.contains(kind) && !output.kinds.contains(kind)
        {
            find(.hdr, track: track, "\(name) is lost.")
        }
    }
}

extension MasteringDisplay {
    /// Equal but for the rounding between the units of H.265 (0.00002, 0.0001 cd/m²) and those of Matroska (floating point).
    fileprivate func isNearly(_ other: MasteringDisplay) -> Bool {
        func near(_ left: Point, _ right: Point) -> Bool { abs(left.x - right.x) <= 1 && abs(left.y - right.y) <= 1 }
        return near(red, other.red) && near(green, other.green) && near(blue, other.blue) && near(white, other.white)
            && abs(maximumLuminance - other.maximumLuminance) <= 10_000
            && abs(minimumLuminance - other.minimumLuminance) <= 1
    }
}

extension Track {
    /// The matrix's determinant is negative.
    fileprivate var isMirrored: Bool {
        guard let m = transform else { return false }
        return Double(m[0]) * Double(m[4]) - Double(m[1]) * Double(m[3]) < 0
    }
}

extension TrackScan {
    /// Pictures a second, where all are equally far apart but for rounding.
    fileprivate var constantRate: Double? {
        let steps = zip(times.dropFirst(), times).map { $0 &- $1 }
        guard let shortest = steps.min(), let longest = steps.max(), shortest > 0 else { return nil }
        // Rounding to the time base costs a tick either way; milliseconds are the coarsest that containers tell.
        guard longest - shortest <= 2, steps.count > 1 else { return nil }
        return Double(steps.count) / seconds(of: (times.last ?? 0) &- (times.first ?? 0))
    }
}
