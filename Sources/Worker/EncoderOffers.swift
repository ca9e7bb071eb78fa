package import ClusterProtocol
internal import Media

/// The encoders a node names when it joins.
package enum EncoderOffers {
    package static let all: [EncoderOffer] =
        [EncoderOffer(name: "copy")]
        + EncoderCatalog.all.filter { $0.mediaType == .video }.prefix(ProtocolLimits.encoders - 1)
        .map { EncoderOffer(name: $0.name, hardware: $0.isHardware) }
}
