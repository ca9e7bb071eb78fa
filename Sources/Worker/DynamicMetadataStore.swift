internal import ClusterProtocol
internal import Media
internal import SourceAccess
internal import Synchronization

/// Keeps the source pictures' dynamic metadata, by time, until the encoder returns the same picture.
final class DynamicMetadataStore: Sendable {
    private let wantsHDR10Plus: Bool
    private let wantsDolbyVision: Bool
    private let held = Mutex<[Int64: DynamicMetadata]>([:])

    /// - Returns: `nil` for a recipe that carries none.
    init?(_ recipe: EncodeRecipe) {
        guard recipe.carriesHDR10Plus || recipe.carriesDolbyVision else { return nil }
        wantsHDR10Plus = recipe.carriesHDR10Plus
        wantsDolbyVision = recipe.carriesDolbyVision
    }

    /// Remembers what a sample of the source says of its picture.
    func note(_ sample: Sample) {
        guard let pts = sample.pts,
            let metadata = DynamicMetadata(of: sample, hdr10Plus: wantsHDR10Plus, dolbyVision: wantsDolbyVision)
        else { return }
        held.withLock { $0[pts] = metadata }
    }

    /// The encoder's sample with what belongs to its picture.
    func complete(_ sample: Sample) throws(MediaError) -> Sample {
        guard let pts = sample.pts, let metadata = held.withLock({ $0.removeValue(forKey: pts) }) else { return sample }
        return try metadata.added(to: sample)
    }
}
