package import ClusterProtocol
internal import Media

/// The encoders a node names when it joins.
package enum EncoderOffers {
    package static let all: [EncoderOffer] =
        EncoderCatalog.all.filter { $0.mediaType == .video }.prefix(ProtocolLimits.encoders)
        .map { EncoderOffer(name: $0.name, hardware: $0.isHardware) }
}
