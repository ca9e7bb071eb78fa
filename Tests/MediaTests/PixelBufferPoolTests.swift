import MediaTime
import Testing

@testable import Media

@Suite struct PixelBufferPoolTests {
    @Test("Memory is used again once its frames are gone, and not before")
    func reuses() throws {
        let pictures = try TestPictures()
        for index in 0..<20 { _ = try pictures.picture(index, pts: Int64(index)) }
        #expect(pictures.pool.allocationCount == 1)
        let held = try pictures.pictures(5)
        #expect(pictures.pool.allocationCount == 5)
        #expect(Set(held.compactMap { $0.withPlane(0) { bytes, _ in UInt(bitPattern: bytes.baseAddress) } }).count == 5)
    }

    @Test("Frames outlive their pool")
    func outlives() throws {
        let frame = try TestPictures().picture(3, pts: 0)
        #expect(pixels(of: frame).count == 160 * 90 * 3 / 2)
    }

    @Test(
        "Planes have the format's shape", arguments: [("yuv420p", [90, 45, 45]), ("nv12", [90, 45]), ("rgb24", [90])])
    func planes(name: String, rows: [Int]) throws {
        let frame = try TestPictures(pixelFormat: name).picture(0, pts: 0)
        #expect(frame.planeCount == rows.count)
        for (plane, count) in rows.enumerated() {
            let layout = try #require(frame.withPlane(plane) { _, layout in layout })
            #expect(layout.rows == count)
            #expect(layout.stride % 64 == 0 && layout.rowBytes <= layout.stride)
        }
        #expect(frame.withPlane(rows.count) { _, _ in true } == nil)
    }

    @Test(
        "Sizes and formats that cannot exist are errors",
        arguments: [(0, "yuv420p"), (1 << 40, "yuv420p"), (64, "octarine")])
    func impossible(width: Int, name: String) throws {
        let error = #expect(throws: MediaError.self) {
            try PixelBufferPool(
                format: FrameFormat(width: width, height: 64, pixelFormat: name, timeBase: .mpeg))
        }
        #expect(error?.boundary == .format)
    }
}
