internal import ClusterProtocol
internal import Media
internal import SourceAccess
internal import Synchronization

/// Keeps the source pictures' dynamic metadata, by time, until the encoder returns the same picture.
final class DynamicMetadataStore: Sendable {
    private let wantsHDR10Plus: Bool
    private let wantsDolbyVision: Bool
    private let wantsCaptions: Bool
    private let held = Mutex<[Int64: DynamicMetadata]>([:])

    /// - Returns: `nil` for a recipe that carries none.
    init?(_ recipe: EncodeRecipe) {
        // libavcodec hands libx265 no captions; what other encoders write, they write by themselves.
        wantsCaptions = recipe.encoder == "libx265" && !EncoderCatalog.writesCaptions("libx265")
        guard recipe.carriesHDR10Plus || recipe.carriesDolbyVision || wantsCaptions else { return nil }
        wantsHDR10Plus = recipe.carriesHDR10Plus
        wantsDolbyVision = recipe.carriesDolbyVision
    }

    /// Remembers what a sample of the source says of its picture.
    func note(_ sample: Sample) {
        guard wantsHDR10Plus || wantsDolbyVision, let pts = sample.pts,
            let metadata = DynamicMetadata(of: sample, hdr10Plus: wantsHDR10Plus, dolbyVision: wantsDolbyVision)
        else { return }
        held.withLock { $0[pts] = metadata }
    }

    /// Remembers the captions of a picture that is about to be encoded.
    func note(_ frame: Frame) {
        guard wantsCaptions, let pts = frame.pts, let captions = DynamicMetadata(captionsOf: frame) else { return }
        held.withLock { $0[pts] = $0[pts]?.merging(captions) ?? captions }
    }

    /// The encoder's sample with what belongs to its picture.
    func complete(_ sample: Sample) throws(MediaError) -> Sample {
        guard let pts = sample.pts, let metadata = held.withLock({ $0.removeValue(forKey: pts) }) else { return sample }
        return try metadata.added(to: sample)
    }
}
