import Foundation
import Media
import MediaTime

/// Lists the tracks of a file, and copies them into another container without decoding: `swift run MediaExample SRC [DST]`
@main
enum MediaExample {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let source = arguments.first else { return print("Usage: MediaExample SRC [DST]") }
        do {
            let asset = Asset(location: source)
            try await list(asset)
            if let target = arguments.dropFirst().first { try await remux(asset, to: target) }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func list(_ asset: Asset) async throws {
        // Nothing has been opened so far; these three share one opening.
        let (container, duration, tracks) = try await asset.load(.containerName, .duration, .tracks)
        print("\(asset.location): \(container), \(duration.seconds) s")
        for track in tracks {
            print("  \(track.index): \(track.mediaType) \(track.format.codecName), times in \(track.timeBase) s")
        }
    }

    private static func remux(_ asset: Asset, to path: String) async throws {
        guard let container = Container(path: path) else { return print("\(path): no such container") }
        let (tracks, start) = try await asset.load(.tracks, .startTime)
        let writer = try AssetWriter(path: path, container: container, overwrites: true)
        var jobs: [(Track, AssetWriterInput)] = []
        for track in tracks where container.canHold(codec: track.format.codecName) {
            let input = AssetWriterInput(
                .init(format: track.format, timeBase: track.timeBase, language: track.language))
            try writer.add(input)
            jobs.append((track, input))
        }
        try writer.startWriting()
        try writer.startSession(at: start.isNumeric ? start : .zero)
        do {
            try await withThrowingTaskGroup { group in
                for (track, input) in jobs { group.addTask { try await copy(track, of: asset, to: input) } }
                try await group.waitForAll()
            }
            print("\(path): \(try await writer.finishWriting()) bytes")
        } catch {
            // The temporary file beside the target goes away with this.
            await writer.cancelWriting()
            throw error
        }
    }

    /// Reading blocks on the disk: it has a thread of its own for each track.
    private static func copy(_ track: Track, of asset: Asset, to input: AssetWriterInput) async throws {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try pull(track, of: asset, to: input) }) }.start()
        }
    }

    private static func pull(_ track: Track, of asset: Asset, to input: AssetWriterInput) throws {
        defer { input.markAsFinished() }
        let reader = AssetReader(asset: asset)
        let output = AssetReaderTrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        // `waitUntilReady` is the back-pressure: the writer takes tracks in step, whatever their sizes.
        while let sample = output.copyNextSample(), input.waitUntilReady() { try input.append(sample) }
        if let error = reader.error { throw error }
    }
}
