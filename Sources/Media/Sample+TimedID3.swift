extension Sample {
    /// The tag whole again, where libavformat took its beginning.
    ///
    /// libavformat takes the first five bytes of every PES packet of stream type 0x15 for the header of a metadata access unit
    /// (ISO/IEC 13818-1 §2.12.4.2). Timed ID3 has no such header ("Timed Metadata for HTTP Live Streaming", §2): what is taken is
    /// "ID3" and the version, 2.4 by that specification. The size that follows tells whether the rest is such a tag.
    package func restoringTimedID3() throws(MediaError) -> Sample {
        guard format.codecName == "timed_id3" else { return self }
        let bytes = withUnsafeBytes { Array($0) }
        let sizes = bytes.dropFirst().prefix(4)
        guard bytes.count > 5, !bytes.starts(with: Array("ID3".utf8)), sizes.allSatisfy({ $0 < 0x80 }),
            sizes.reduce(0, { $0 << 7 | Int($1) }) + 5 == bytes.count
        else { return self }
        return try withBytes(Array("ID3".utf8) + [4, 0] + bytes)
    }
}
