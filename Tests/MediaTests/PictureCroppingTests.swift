import Foundation
import Support
import Testing

@testable import Media

@Suite struct PictureCroppingTests {
    private func clip(_ name: String, in scratch: ScratchFolder, _ options: [String] = []) throws -> String? {
        let path = scratch.file(name)
        let made = try FFmpegProgram.run(
            ["-f", "lavfi", "-i", "testsrc2=s=192x128:r=25:d=0.4", "-c:v", "libx264", "-preset", "ultrafast"] + options
                + [path])
        return made ? path : nil
    }

    @Test("Matroska's cropping is read, with the shape of what is left")
    func matroska() throws {
        let scratch = try ScratchFolder()
        guard let path = try clip("a.mkv", in: scratch, ["-vf", "setsar=4/3"]),
            try MatroskaProperties.set(
                [
                    "pixel-crop-top": "10", "pixel-crop-bottom": "14", "pixel-crop-left": "7", "pixel-crop-right": "3",
                    "display-width": "364", "display-height": "104",
                ], track: "v1", of: path)
        else { return }
        let cropping = try #require(try Demuxer(location: path).cropping(ofTrack: 0))
        #expect((cropping.top, cropping.bottom, cropping.left, cropping.right) == (10, 14, 7, 3))
        #expect((cropping.width, cropping.height) == (192, 128))
        // 364:104 shown as 182×104 pixels.
        #expect(cropping.sampleAspectRatio == Rational(2, 1))
    }

    @Test("A movie's clean aperture is read", arguments: ["mp4", "mov"])
    func cleanAperture(container: String) throws {
        let scratch = try ScratchFolder()
        guard let path = try clip("a.\(container)", in: scratch) else { return }
        let box = CleanApertureBox(width: (176, 1), height: (208, 2), across: (-2, 1), down: (3, 1))
        let movie = try #require(box.inserted(into: try readBytes(path)))
        let cropped = try scratch.write(movie, to: "b.\(container)")
        let cropping = try #require(try Demuxer(location: cropped).cropping(ofTrack: 0))
        #expect((cropping.left, cropping.right) == (6, 10))
        #expect((cropping.top, cropping.bottom) == (15, 9))
        #expect(try Demuxer(location: path).cropping(ofTrack: 0) == nil)
    }

    @Test(
        "An aperture's edges within a pixel are rounded as FFmpeg 7.1 does",
        arguments: [
            // Height over which an aperture of so many rows lies in the middle, and the rows left out above and below.
            (128, 104, 1, 12, 12), (128, 103, 1, 12, 13), (128, 207, 2, 12, 13), (486, 480, 1, 3, 3),
        ] as [(Int, UInt32, UInt32, Int, Int)])
    func rounding(extent: Int, over: UInt32, under: UInt32, first: Int, last: Int) throws {
        let box = CleanApertureBox(width: (64, 1), height: (over, under))
        let cropping = try #require(MovieTracks.cropping(Array(box.bytes[8...]), width: 64, height: extent))
        #expect((cropping.top, cropping.bottom) == (first, last))
    }

    @Test("An aperture that is larger than the picture, empty or told in impossible fractions is none")
    func nonsense() {
        for box in [
            CleanApertureBox(width: (200, 1), height: (128, 1)), CleanApertureBox(width: (0, 1), height: (128, 1)),
            CleanApertureBox(width: (100, 0), height: (128, 1)),
            CleanApertureBox(width: (100, 1), height: (100, 1), across: (.min, 1)),
            CleanApertureBox(width: (100, 1), height: (100, 1), across: (.max, 1), down: (.min, 0)),
            CleanApertureBox(width: (.max, .max), height: (.max, 1), across: (.min, .max)),
            CleanApertureBox(width: (192, 1), height: (128, 1)),
        ] {
            #expect(MovieTracks.cropping(Array(box.bytes[8...]), width: 192, height: 128) == nil)
        }
    }

    @Test("Edges move outwards to where colour samples begin, and in interlaced pictures to whole pairs of fields")
    func chroma() throws {
        let cropping = try #require(
            PictureCropping(width: 192, height: 128, top: 3, bottom: 5, left: 7, right: 2))
        func kept(_ format: String, _ isInterlaced: Bool = false) -> [Int]? {
            cropping.rectangle(width: 192, height: 128, pixelFormat: format, isInterlaced: isInterlaced)
                .map { [$0.x, $0.y, $0.width, $0.height] }
        }
        #expect(kept("yuv444p") == [7, 3, 183, 120])
        #expect(kept("yuv422p") == [6, 3, 184, 120])
        #expect(kept("yuv420p10le") == [6, 2, 184, 122])
        #expect(kept("yuv420p", true) == [6, 0, 184, 124])
        #expect(kept("yuv422p", true) == [6, 2, 184, 122])
        #expect(cropping.rectangle(width: 192, height: 120, pixelFormat: "yuv420p", isInterlaced: false) == nil)
    }

    @Test("Nothing that leaves no picture is a cropping")
    func bounds() {
        #expect(PictureCropping(width: 64, height: 64, top: 32, bottom: 32, left: 0, right: 0) == nil)
        #expect(PictureCropping(width: 64, height: 64, top: .max, bottom: .max, left: 0, right: 0) == nil)
        #expect(PictureCropping(width: 64, height: 64, top: 0, bottom: 0, left: 0, right: 0) == nil)
        #expect(PictureCropping(width: 64, height: 64, top: -1, bottom: 2, left: 0, right: 0) == nil)
    }

    /// Numbers that the walk goes by are made large, small and wrong; the walk must end, and never trap.
    @Test("Damaged headers are read to an end", arguments: ["mkv", "mp4"])
    func damage(container: String) throws {
        let scratch = try ScratchFolder()
        guard let path = try clip("a.\(container)", in: scratch, ["-frames:v", "2"]) else { return }
        var clean = try readBytes(path)
        if container == "mkv" {
            let changes = ["pixel-crop-top": "8", "pixel-crop-left": "4"]
            guard try MatroskaProperties.set(changes, track: "v1", of: path) else { return }
            clean = try readBytes(path)
        } else {
            let box = CleanApertureBox(width: (160, 1), height: (100, 1))
            clean = try #require(box.inserted(into: clean))
            // The header alone: no media in front of it.
            clean = Array(clean[(try #require(Self.start(of: "moov", in: clean)) - 4)...])
        }
        // Headers stand at the beginning, and where mkvpropedit found no room for them, at the end.
        let places = Array(0..<min(clean.count, 1500)) + Array(max(0, clean.count - 700)..<clean.count)
        func read(_ bytes: [UInt8]) throws -> [PictureCropping?] {
            let file = try HeaderBytes(location: scratch.write(bytes, to: "damaged"), interrupt: InterruptFlag())
            return container == "mkv"
                ? try MatroskaTracks(file).entries.map(\.cropping) : try Array(MovieTracks(file).croppings.values)
        }
        #expect(try read(clean).contains { $0 != nil })
        var random = SeededRandom(seed: 0x63_726F70)
        for round in 0..<2000 {
            var bytes = clean
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = min(bytes.count - 1, places.randomElement(using: &random) ?? 0)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
                case 2:
                    for index in place..<min(bytes.count, place + 8) {
                        bytes[index] = round.isMultiple(of: 2) ? 0xFF : 0
                    }
                default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...16, using: &random)))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            for cropping in try read(bytes).compactMap({ $0 }) {
                #expect(cropping.wanted.width > 0 && cropping.wanted.height > 0, "round \(round)")
            }
        }
    }

    private static func start(of type: String, in bytes: [UInt8]) -> Int? {
        let wanted = Array(type.utf8)
        return bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == wanted }
    }
}
