// swift-tools-version: 6.2
import PackageDescription

// Every target: Swift 6 language mode (complete concurrency checking) and warnings as errors.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: strict)
}

let package = Package(
    name: "weft",
    // Int128, which exact time is computed in.
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "weft", targets: ["weft"]),
        .library(name: "WeftMedia", targets: ["MediaTime", "Media"]),
    ],
    targets: [
        // C libraries: a module map and the smallest shim that Swift needs.
        .systemLibrary(name: "CFFmpeg"),
        .systemLibrary(name: "CZeroMQ"),
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CXXHash"),
        .systemLibrary(name: "CGetopt"),

        // Pure modules: no C library, no I/O, no clock.
        module("MediaTime"),
        module("SegmentPlan", ["MediaTime"]),
        module("ClusterProtocol", ["MediaTime", "SegmentPlan"]),
        module("Scheduling", ["ClusterProtocol", "MediaTime"]),

        // Adapters: each the only importer of its C library; they know no jobs.
        module("Media", ["MediaTime", "CFFmpeg"], exclude: ["README.md"]),
        module("Messaging", ["CZeroMQ"]),
        module("JobStore", ["CSQLite", "ClusterProtocol", "Scheduling"]),

        // What an export is made of.
        module("SourceAccess", ["Media", "MediaTime", "SegmentPlan", "ClusterProtocol", "CXXHash"]),
        module("Stitching", ["Media", "MediaTime", "ClusterProtocol", "SourceAccess"]),
        module("Verification", ["Media", "MediaTime", "ClusterProtocol", "SegmentPlan", "SourceAccess"]),
        module("Placement", ["ClusterProtocol"]),
        module("Worker", ["Media", "MediaTime", "ClusterProtocol", "Messaging", "SourceAccess"]),
        module(
            "Coordinator",
            [
                "Media", "MediaTime", "SegmentPlan", "ClusterProtocol", "Scheduling", "Messaging", "JobStore",
                "SourceAccess", "Stitching", "Verification", "Worker",
            ]),
        .executableTarget(
            name: "weft",
            dependencies: [
                "Coordinator", "Worker", "Placement", "Verification", "SourceAccess", "SegmentPlan", "ClusterProtocol",
                "Messaging",
                "Media", "MediaTime", "CGetopt",
            ],
            swiftSettings: strict),
        // The library as another program uses it.
        .executableTarget(
            name: "MediaExample", dependencies: ["Media", "MediaTime"], path: "Examples/MediaExample",
            swiftSettings: strict),

        tests(of: "MediaTime", ["Support"]),
        tests(of: "SegmentPlan", ["MediaTime", "Support"]),
        tests(of: "ClusterProtocol", ["MediaTime", "SegmentPlan", "Support"]),
        tests(of: "Scheduling", ["ClusterProtocol"]),
        tests(of: "Messaging", ["Support"]),
        tests(of: "JobStore", ["ClusterProtocol", "Scheduling"]),
        tests(of: "Media", ["MediaTime", "Support"]),
        tests(of: "SourceAccess", ["ClusterProtocol", "Media", "MediaTime", "SegmentPlan", "Support"]),
        // Whole exports, with the program itself; the ffmpeg programs are the judge.
        .testTarget(name: "ExportTests", dependencies: ["weft", "Support"], swiftSettings: strict),
        tests(of: "Stitching", ["ClusterProtocol", "Media", "MediaTime", "SourceAccess", "Support"]),
        tests(of: "Verification", ["ClusterProtocol", "Media", "MediaTime", "SegmentPlan", "SourceAccess", "Support"]),
        tests(of: "Worker", ["ClusterProtocol", "Messaging", "Support"]),
        tests(of: "Placement", ["ClusterProtocol"]),
        tests(
            of: "Coordinator", ["ClusterProtocol", "JobStore", "Scheduling", "SourceAccess", "Stitching", "Support"]),
        // Real processes: the program that is built beside them.
        .testTarget(name: "ClusterTests", dependencies: ["weft", "Support"], swiftSettings: strict),
        tests(of: "weft", ["ClusterProtocol", "MediaTime", "Support"]),
        .testTarget(
            name: "ServiceTests",
            dependencies: ["weft", "ClusterProtocol", "JobStore", "Messaging", "Scheduling", "Support"],
            swiftSettings: strict),
        // The built program on real files and short clips, judged by ffprobe; and the pure parts that decide the picture.
        .testTarget(
            name: "PictureTests",
            dependencies: ["weft", "Coordinator", "ClusterProtocol", "Media", "MediaTime", "SegmentPlan", "Support"],
            swiftSettings: strict),
        // What several test targets need.
        .target(name: "Support", path: "Tests/Support", swiftSettings: strict),
        // The relay among them, for benchmarks.
        .executableTarget(
            name: "FaultRelay", dependencies: ["Support"], path: "Tests/FaultRelay", swiftSettings: strict),
        // Damaged messages: a program of its own, so that a crash is seen, and so that what its parsers allocate can be counted.
        .target(name: "AllocationCount", path: "Tests/AllocationCount"),
        .executableTarget(
            name: "ProtocolFuzz",
            dependencies: ["AllocationCount", "ClusterProtocol", "Media", "Messaging", "Support"],
            path: "Tests/ProtocolFuzz", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
