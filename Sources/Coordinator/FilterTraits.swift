/// What can be told of a libavfilter chain from its text.
struct FilterTraits: Hashable, Sendable {
    /// Frames to either side that its filters look at: what they are given beyond a segment's ends so that joins do not show.
    private(set) var margin = 0
    /// One frame comes out for each that goes in, at the same time.
    private(set) var keepsFrames = true
    /// The filters that count frames, or go on from the first frame they saw: they would begin anew in every segment.
    private(set) var counting: [String] = []

    init(_ chain: String) {
        for filter in Self.filters(of: chain) {
            if FrameCounting.isFound(in: filter), !counting.contains(filter.name) { counting.append(filter.name) }
            margin += Self.margin(of: filter)
            keepsFrames = keepsFrames && Self.keepsFrames(filter)
        }
    }

    struct Filter: Hashable, Sendable {
        var name: String
        var arguments: String
    }

    /// The filters that a chain names, in order (libavfilter's notation: `[in]name@id=arguments[out],…;…`).
    static func filters(of chain: String) -> [Filter] {
        var filters: [Filter] = []
        var current = ""
        var isQuoted = false
        var isEscaped = false
        var depth = 0
        for character in chain + "," {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "'" {
                isQuoted.toggle()
            } else if !isQuoted {
                if character == "[" { depth += 1 }
                if character == "]" {
                    depth = max(0, depth - 1)
                    continue
                }
                if depth > 0 { continue }
                if character == "," || character == ";" {
                    if let filter = Filter(current) { filters.append(filter) }
                    current = ""
                    continue
                }
            }
            if depth == 0 { current.append(character) }
        }
        return filters
    }

    // MARK: Tables

    /// Each takes one frame and gives one, at the same time.
    private static let preserving: Set<String> = [
        "alphaextract", "avgblur", "bbox", "bench", "bilateral", "blackdetect", "blackframe", "boxblur", "bwdif", "cas",
        "chromahold", "chromanr", "chromashift",
        "colorbalance", "colorchannelmixer", "colorcontrast", "colorcorrect", "colorize", "colorkey", "colorlevels",
        "colormatrix", "colorspace", "colortemperature", "convolution", "copy", "crop", "cropdetect", "curves",
        "deband", "deblock",
        "deflicker", "delogo", "drawbox", "drawgrid", "drawtext", "edgedetect", "eq", "estdif", "exposure", "fade",
        "fieldorder", "format", "freezedetect", "gblur", "geq", "gradfun", "greyedge", "hflip", "hqdn3d",
        "hsvhold", "hsvkey", "hue", "iccdetect", "idet", "il", "kerndeint", "lenscorrection", "limiter", "lumakey",
        "lut",
        "lut1d", "lut3d", "lutrgb", "lutyuv", "monochrome", "negate", "nlmeans", "noformat", "noise", "normalize",
        "null", "pad", "perms", "perspective", "phase", "pixelize", "premultiply", "realtime", "removelogo", "rotate",
        "sab", "scale",
        "scdet", "sendcmd", "setdar", "setfield", "setparams", "setrange", "setsar", "shear", "showinfo", "signalstats",
        "smartblur", "sobel",
        "subtitles", "ass", "swapuv", "tmix", "tonemap", "transpose", "unsharp", "v360", "vaguedenoiser", "vflip",
        "vibrance", "vignette", "w3fdif", "yadif", "yaepblur", "zscale", "atadenoise", "fftdnoiz", "bm3d", "owdenoise",
    ]
    /// Deinterlacers, with whether they give a frame for each field unless told otherwise.
    private static let deinterlacers = [
        "bwdif": true, "estdif": true, "w3fdif": true, "yadif": false,
    ]
    /// Frames that a filter looks at to either side. Of filters that look back for ever (`hqdn3d`) the share that can still be
    /// seen.
    private static let margins = [
        "bwdif": 2, "yadif": 2, "w3fdif": 2, "estdif": 2, "kerndeint": 1, "tinterlace": 2, "phase": 1, "atadenoise": 8,
        "bm3d": 2, "decimate": 10, "deflicker": 10, "fftdnoiz": 2, "fieldmatch": 5, "fps": 2, "framerate": 3,
        "hqdn3d": 12, "lagfun": 48, "minterpolate": 4, "mpdecimate": 8, "normalize": 24, "pullup": 8, "tblend": 1,
        "tmedian": 8, "tmix": 8, "tpad": 0, "random": 30, "shuffleframes": 30, "deshake": 8, "mcdeint": 2,
        "telecine": 5, "detelecine": 5, "repeatfields": 2, "scdet": 1,
    ]

    private static func margin(of filter: Filter) -> Int {
        guard let margin = margins[filter.name] else { return 0 }
        switch filter.name {
        case "tmix": return max(1, filter.number("frames", position: 0) ?? 3)
        case "deflicker": return max(1, filter.number("size", position: 0) ?? 5) * 2
        case "atadenoise": return max(1, (filter.number("s", position: nil) ?? 9) / 2 + 1)
        default: return margin
        }
    }

    private static func keepsFrames(_ filter: Filter) -> Bool {
        guard let doubles = deinterlacers[filter.name] else { return preserving.contains(filter.name) }
        switch filter.value("mode", position: 0) {
        case nil: return !doubles
        case "send_field", "field", "1", "send_field_nospatial", "3": return false
        default: return true
        }
    }
}

extension FilterTraits.Filter {
    fileprivate init?(_ text: String) {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = (halves.first ?? "").split(separator: "@").first.map(String.init) ?? ""
        self.name = name.filter { !$0.isWhitespace }
        arguments = halves.count > 1 ? String(halves[1]) : ""
        guard !self.name.isEmpty else { return nil }
    }

    /// - Parameter position: where the argument may stand without its name.
    fileprivate func value(_ key: String, position: Int?) -> String? {
        let words = arguments.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        if let named = words.first(where: { $0.hasPrefix(key + "=") }) { return String(named.dropFirst(key.count + 1)) }
        guard let position, words.indices.contains(position), !words[position].isEmpty,
            !words[position].contains("=")
        else { return nil }
        return words[position]
    }

    fileprivate func number(_ key: String, position: Int?) -> Int? {
        value(key, position: position).flatMap { Int($0) }.map { min($0, 512) }
    }
}
