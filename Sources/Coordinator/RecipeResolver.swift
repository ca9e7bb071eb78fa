internal import ClusterProtocol
internal import Foundation
internal import Media
internal import MediaTime
internal import SourceAccess

/// What was decided for the picture track.
struct ResolvedPicture: Sendable {
    var recipe: EncodeRecipe
    var codecName: String
    var reorderDepth: Int
    /// Side data of the output's picture track.
    var attachments: [Attachment]
    var keepsFrames = true
    var warnings: [String] = []
    var losses: [String] = []
    /// Losses that the user allowed by name.
    var allowedLosses: [String] = []
}

/// Turns what the user wants into exactly what every slot does: the encoder, its options and the pictures it is given.
struct RecipeResolver {
    private let settings: ExportSettings
    private let track: Track
    private let container: Container
    /// Seconds of picture, for a size in bytes.
    private let seconds: Double
    /// Bits a second that the sound will take.
    private let audioBitrate: Int64
    private let pictures: FirstPictures?
    private let cropping: PictureCropping?

    /// - Parameters:
    ///   - cropping: that the source's container asks for.
    ///   - pictures: the first ones of the export; `nil` takes the container's word for them.
    init(
        settings: ExportSettings, track: Track, cropping: PictureCropping?, container: Container, seconds: Double,
        audioBitrate: Int64, pictures: FirstPictures? = nil
    ) {
        self.settings = settings
        self.track = track
        self.cropping = cropping
        self.container = container
        self.seconds = seconds
        self.audioBitrate = audioBitrate
        self.pictures = pictures ?? FirstPictures(track: track)
    }

    /// The recipe, with the encoder opened once to see that it takes every setting.
    func resolve() throws(Failure) -> ResolvedPicture {
        guard settings.videoCodec != .copy else {
            let recipe = EncodeRecipe(
                encoder: "copy", globalHeader: container != .mpegTS, timeBase: track.timeBase)
            var resolved = ResolvedPicture(
                recipe: recipe, codecName: track.format.codecName, reorderDepth: track.format.reorderDepth,
                attachments: track.attachments)
            resolved.losses =
                PictureCarriage.rotationLoss(track, container)
                + PictureCarriage.croppingLoss(cropping, of: track, container)
            return resolved
        }
        guard let pictures else {
            throw Failure(
                .format, "The picture format of track \(track.index) (\(track.format.codecName)) is not known.",
                advice: "`weft probe` shows what the file holds.", exitCode: .badSource)
        }
        let chain = try PictureChain(
            settings,
            source: PictureChain.Source(
                format: pictures.format, scan: pictures.scan, masteringDisplay: pictures.masteringDisplay,
                contentLight: pictures.contentLight, transform: track.transform, cropping: cropping))
        var first: Failure?
        var tried: [String] = []
        for encoder in try encoders() {
            do throws(Failure) {
                return try preflight(encoder, pictures, chain)
            } catch {
                first = first ?? error
                tried.append("\(encoder.name) (\(error.log.last ?? error.message))")
            }
        }
        // What no encoder can do anything about (a filter, a quality) is said in its own words.
        if settings.encoder == "hardware", first?.boundary == .encoder || first?.boundary == .hardware {
            throw noHardware(tried)
        }
        throw first ?? unknownEncoder(settings.encoder)
    }

    // MARK: Encoder

    private var codecName: String {
        switch settings.videoCodec {
        case .h264: "h264"
        case .hevc: "hevc"
        case .av1: "av1"
        case .vp9: "vp9"
        case .prores: "prores"
        case .copy: track.format.codecName
        }
    }

    /// The encoders to try, the first that opens is taken.
    private func encoders() throws(Failure) -> [EncoderCatalog.Encoder] {
        let names: [String] =
            switch settings.encoder {
            case "auto", "software": EncoderCatalog.softwareEncoders(of: codecName)
            case "hardware": EncoderCatalog.hardwareEncoders(of: codecName)
            default: [settings.encoder]
            }
        let found = names.compactMap { EncoderCatalog.encoder(named: $0) }
        if found.isEmpty, settings.encoder == "hardware" { throw noHardware([]) }
        guard !found.isEmpty else { throw unknownEncoder(settings.encoder) }
        if found.count == 1, !["auto", "software", "hardware"].contains(settings.encoder) {
            guard found[0].mediaType == .video else {
                throw Failure(
                    .encoder, "\(settings.encoder) is no encoder for pictures.",
                    advice: "`weft capabilities` lists those that are.", fault: .settings, exitCode: .usage)
            }
        }
        return found
    }

    private func noHardware(_ tried: [String]) -> Failure {
        let kinds = EncoderCatalog.hardwareNames(of: codecName).joined(separator: ", ")
        let looked =
            tried.isEmpty
            ? "This FFmpeg has none of \(kinds)." : "Tried: \(tried.joined(separator: "; "))."
        return Failure(
            .hardware, "No hardware encoder for \(codecName) works on this machine. \(looked)",
            advice: "`weft capabilities` lists the encoders that work here; --encoder auto takes one of them.",
            fault: .settings, exitCode: .usage)
    }

    private func unknownEncoder(_ name: String) -> Failure {
        let message =
            switch name {
            case "auto", "software": "This FFmpeg has no encoder for \(codecName)."
            default: "This FFmpeg has no encoder “\(name)”."
            }
        return Failure(
            .encoder, message, advice: "`weft capabilities` lists the encoders that work here.", fault: .settings,
            exitCode: .usage)
    }

    // MARK: Options

    private func preflight(
        _ encoder: EncoderCatalog.Encoder, _ pictures: FirstPictures, _ chain: PictureChain
    ) throws(Failure) -> ResolvedPicture {
        guard container.canHold(codec: encoder.codecName) else {
            throw Failure(
                .format, "\(container) cannot hold \(encoder.codecName).",
                advice: "Choose another --video-codec, or a target name such as .mkv or .mov.", fault: .settings,
                exitCode: .usage)
        }
        try checkQuality(of: encoder.name)
        let dynamic = try DynamicCarriage(
            pictures, sourceCodec: track.format.codecName, chain: chain, container: container, encoder: encoder.name,
            codec: encoder.codecName, allowed: settings.allowedLosses)
        do {
            let filtered = try FilteredPictures.make(pictures, chain, patience: settings.stallSeconds)
            let traits = EncoderTraits(encoder: encoder.name, codec: encoder.codecName)
            let target = try traits.pixelFormat(
                Self.pixelFormat(of: encoder, nearest: filtered.format.pixelFormat), holding: filtered.format,
                among: encoder.pixelFormats)
            let conversion = PixelConversion(
                from: filtered.format, colour: filtered.colour, to: target, encoder: encoder.name,
                signalsRange: traits.signalsRange)
            let carriage = PictureCarriage(
                track: track, pictures: pictures, chain: chain, container: container, encoder: encoder.name,
                traits: traits, scan: filtered.scan, carriesDolbyVision: dynamic.carriesDolbyVision)
            var recipe = try recipe(encoder, filtered.format, pictures, chain)
            recipe.filter = [chain.filter, conversion.filter].filter { !$0.isEmpty }.joined(separator: ",")
            recipe.pixelFormat = target
            recipe.colour = EncodeRecipe.Colour(conversion.colour)
            recipe.scan = traits.codesFields ? EncodeRecipe.Scan(filtered.scan) : .progressive
            recipe.setStaticHDR(carriage)
            recipe.carriesHDR10Plus = dynamic.carriesHDR10Plus
            recipe.carriesDolbyVision = dynamic.carriesDolbyVision
            let path = PicturePath(recipe: recipe, picture: SourcePicture(track))
            _ = try path.makeGraph(for: path.initialFormat())
            let session = try path.makeEncoder()
            return ResolvedPicture(
                recipe: recipe, codecName: encoder.codecName, reorderDepth: session.reorderDepth,
                attachments: carriage.attachments, keepsFrames: chain.keepsFrames,
                warnings: chain.warnings + conversion.warnings + carriage.warnings, losses: carriage.losses,
                allowedLosses: dynamic.losses)
        } catch let error as MediaError {
            var failure = Failure(error, role: .encode)
            if failure.exitCode == .jobFailed {
                // Nothing was encoded yet: what does not open with these settings is theirs.
                (failure.fault, failure.retry, failure.exitCode) = (.settings, .giveUp, .usage)
            }
            throw failure
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.encoder, "\(encoder.name) cannot be set up: \(error)", fault: .settings, exitCode: .usage)
        }
    }

    private func recipe(
        _ encoder: EncoderCatalog.Encoder, _ output: FrameFormat, _ pictures: FirstPictures, _ chain: PictureChain
    ) throws(Failure) -> EncodeRecipe {
        let rate = frameRate(after: output, keepsFrames: chain.keepsFrames)
        var recipe = EncodeRecipe(
            encoder: encoder.name, options: options(of: encoder), bitrate: try bitrate(),
            threads: settings.threads ?? Self.threads(encoder.name, output),
            globalHeader: container != .mpegTS, timeBase: track.timeBase, frameRateNumerator: rate.numerator,
            frameRateDenominator: rate.denominator, width: output.width, height: output.height)
        recipe.source = EncodeRecipe.Picture(pictures.format)
        recipe.aspect = output.sampleAspectRatio.map { EncodeRecipe.Aspect($0) }
        recipe.filterMargin = chain.margin
        recipe.isStrict = settings.isStrict
        return recipe
    }

    /// The source's own pixel format where the encoder takes it, else the one that loses least.
    private static func pixelFormat(of encoder: EncoderCatalog.Encoder, nearest source: String) -> String {
        guard !encoder.pixelFormats.isEmpty, !encoder.pixelFormats.contains(source) else { return source }
        return PixelFormats.nearest(to: source, among: encoder.pixelFormats) ?? source
    }

    /// A constant of encoder and frame size, never of the machine: it decides the bytes of some encoders.
    private static func threads(_ encoder: String, _ format: FrameFormat) -> Int {
        let pixels = format.width * format.height
        guard ["libx264", "libx265", "libsvtav1", "libvpx-vp9"].contains(encoder) else { return 1 }
        return pixels <= 2_100_000 ? 1 : pixels <= 9_000_000 ? 2 : 4
    }

    private func options(of encoder: EncoderCatalog.Encoder) -> [String: String] {
        var options: [String: String] = [:]
        let crf = ["libx264", "libx265", "libsvtav1", "libvpx-vp9", "libaom-av1"].contains(encoder.name)
        if case .quality(let value) = settings.rate {
            let text = value == value.rounded() ? String(Int(value)) : String(value)
            options[crf ? "crf" : "global_quality"] = text
        } else if settings.rate == nil {
            // These two have no quality of their own accord.
            if encoder.name == "libvpx-vp9" { options["crf"] = "31" }
            if encoder.name == "libsvtav1" { options["crf"] = "35" }
        }
        return options.merging(settings.encoderOptions) { _, stated in stated }
    }

    /// Scales of constant quality, as the encoders' own manuals give them.
    private static let qualities: [String: ClosedRange<Double>] = [
        "libx264": 0...51, "libx265": 0...51, "libsvtav1": 0...63, "libvpx-vp9": 0...63, "libaom-av1": 0...63,
    ]

    private func checkQuality(of encoder: String) throws(Failure) {
        guard case .quality(let value) = settings.rate, let range = Self.qualities[encoder], !range.contains(value)
        else {
            return
        }
        let text = value == value.rounded() ? String(Int(value)) : String(value)
        throw Failure(
            .encoder,
            "--quality \(text) is not on the scale of \(encoder): \(Int(range.lowerBound)) (best) to \(Int(range.upperBound)).",
            advice: "Choose a number on that scale; lower is better.", fault: .settings, exitCode: .usage)
    }

    private func bitrate() throws(Failure) -> Int64 {
        switch settings.rate {
        case .bitrate(let rate): return rate
        case .size(let bytes):
            // Two in a hundred for the container.
            let total = Double(bytes) * 8 * 0.98 / max(0.1, seconds)
            let rate = Int64(total) - audioBitrate
            guard rate >= 10_000 else {
                throw Failure(
                    .encoder, "\(bytes) bytes are too few for \(Int(seconds)) s of picture.",
                    advice: "Ask for a larger --size, or for less sound.", fault: .settings, exitCode: .usage)
            }
            return rate
        case .quality, nil: return 0
        }
    }

    /// What the encoder is told: the average rate, or the container's nominal one where the two are the same but for rounding;
    /// the filter's own where it makes another one.
    private func frameRate(after output: FrameFormat, keepsFrames: Bool) -> (numerator: Int32, denominator: Int32) {
        if !keepsFrames, let rate = output.frameRate, rate.numerator > 0 { return (rate.numerator, rate.denominator) }
        guard let average = track.averageFrameRate ?? output.frameRate, average.numerator > 0 else { return (25, 1) }
        guard let nominal = track.realFrameRate, abs(nominal.approximation / average.approximation - 1) < 0.01 else {
            return (average.numerator, average.denominator)
        }
        return (nominal.numerator, nominal.denominator)
    }
}

extension EncodeRecipe {
    fileprivate mutating func setStaticHDR(_ carriage: PictureCarriage) {
        masteringDisplay = carriage.masteringDisplay.map { MasteringDisplay($0) }
        contentLight = carriage.contentLight.map {
            ContentLight(maximum: $0.maximum, maximumFrameAverage: $0.maximumFrameAverage)
        }
    }
}
