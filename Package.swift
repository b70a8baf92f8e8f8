// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]

/// What is in a release names no folder of the machine that builds it.
///
/// So any two clones give the same one. Tests look for their files where they were built.
let released =
  settings + [
    .unsafeFlags(
      ["-file-prefix-map", "\(Context.packageDirectory)=."],
      .when(configuration: .release)
    )
  ]

/// What a release says that it was built from; without it nothing is compiled for a new commit.
let builtFrom: [CSetting] = ["PREFETCH_COMMIT", "PREFETCH_TAG"].compactMap { name in
  guard let value = Context.environment[name], !value.isEmpty else { return nil }
  return .define(name, to: "\"\(value)\"")
}

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: released)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [String] = []) -> Target
{
  .testTarget(
    name: name,
    dependencies: dependencies + ["PrefetchTestSupport"],
    exclude: resources,
    swiftSettings: settings
  )
}

/// A C library is a module map and a header; pkg-config alone says where it is, so that
/// PKG_CONFIG_PATH is enough to build against another copy of it.
func system(_ name: String, pkgConfig: String, debian: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

let package = Package(
  name: "prefetch",
  products: [
    .executable(name: "prefetch", targets: ["prefetch"]),
    // What tests load before the C library to break a program at one of its calls.
    .library(name: "Faults", type: .dynamic, targets: ["CFaults"]),
  ],
  targets: [
    system("CCurl", pkgConfig: "libcurl", debian: "libcurl4-openssl-dev"),
    system("CYAML", pkgConfig: "yaml-0.1", debian: "libyaml-dev"),
    system("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
    system("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
    system("CExpat", pkgConfig: "expat", debian: "libexpat1-dev"),
    system("CZlib", pkgConfig: "zlib", debian: "zlib1g-dev"),
    system("CMicroHTTPD", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
    system("CIdn", pkgConfig: "libidn2", debian: "libidn2-dev"),
    .systemLibrary(name: "CLinux"),
    .target(name: "CRelease", cSettings: builtFrom),

    library("PrefetchCore", ["CIdn"]),
    library("PrefetchDocuments", ["PrefetchCore", "CYAML", "CExpat"]),
    library("PrefetchCrypto", ["PrefetchCore", "COpenSSL", "CZlib"]),
    library("PrefetchConfig", ["PrefetchCore", "PrefetchDocuments"]),
    library("PrefetchManifests", ["PrefetchCore", "PrefetchDocuments", "PrefetchCrypto"]),
    library("PrefetchTransfer", ["PrefetchCore", "PrefetchCrypto", "CCurl", "COpenSSL"]),
    library("PrefetchStore", ["PrefetchCore", "PrefetchCrypto", "CSQLite", "CLinux"]),
    library("PrefetchSystem", ["PrefetchCore", "CLinux"]),
    library("PrefetchServe", ["PrefetchCore", "CMicroHTTPD"]),
    library("PrefetchEngine", ["PrefetchCore", "PrefetchManifests"]),
    library(
      "PrefetchCLI",
      [
        "PrefetchCore", "PrefetchDocuments", "PrefetchCrypto", "PrefetchConfig",
        "PrefetchManifests", "PrefetchTransfer", "PrefetchStore", "PrefetchSystem",
        "PrefetchServe", "PrefetchEngine", "CRelease",
      ]
    ),
    .executableTarget(name: "prefetch", dependencies: ["PrefetchCLI"], swiftSettings: released),

    .target(name: "CFaults", path: "Tests/Faults"),
    .target(name: "CZygote", path: "Tests/Zygote/CZygote"),
    .executableTarget(
      name: "Zygote",
      dependencies: ["CZygote", "PrefetchCLI"],
      path: "Tests/Zygote/Zygote",
      swiftSettings: settings
    ),
    .target(
      name: "PrefetchTestSupport",
      dependencies: ["PrefetchCore", "PrefetchCrypto", "PrefetchDocuments", "COpenSSL"],
      path: "Tests/PrefetchTestSupport",
      exclude: ["Snapshots"],
      swiftSettings: settings
    ),
    tests("PrefetchCoreTests", ["PrefetchCore"], resources: ["Oracles"]),
    tests("PrefetchDocumentsTests", ["PrefetchDocuments"]),
    tests(
      "PrefetchConfigTests",
      ["PrefetchConfig", "PrefetchDocuments"],
      resources: ["Snapshots"]
    ),
    tests("PrefetchManifestsTests", ["PrefetchManifests", "PrefetchDocuments"]),
    tests(
      "PrefetchCryptoTests",
      ["PrefetchCrypto", "PrefetchDocuments", "PrefetchSystem"],
      resources: ["Signatures"]
    ),
    tests("PrefetchTransferTests", ["PrefetchTransfer", "PrefetchCrypto", "CCurl"]),
    tests("PrefetchStoreTests", ["PrefetchStore", "PrefetchCrypto"]),
    tests("PrefetchSystemTests", ["PrefetchSystem"]),
    tests("PrefetchServeTests", ["PrefetchServe"]),
    tests(
      "PrefetchEngineTests",
      ["PrefetchEngine", "PrefetchManifests", "PrefetchCrypto", "PrefetchStore"]
    ),
    tests(
      "PrefetchCLITests",
      [
        "PrefetchCLI", "PrefetchConfig", "PrefetchDocuments", "PrefetchManifests", "PrefetchServe",
        "PrefetchStore", "PrefetchSystem",
      ],
      resources: ["Schemas", "Snapshots"]
    ),
    tests(
      "PrefetchInteropTests",
      [
        "PrefetchCore", "PrefetchCrypto", "PrefetchDocuments", "PrefetchSystem", "CZlib", "CZygote",
        "Zygote",
      ],
      resources: ["Mission/mission.txt", "Transcripts"]
    ),
  ]
)

// What is built for one kind of tests need not hold the others.
if let kept = Context.environment["PREFETCH_TESTS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}

// The program of Tests/fuzz; usual builds leave it out, since only its own flags can link it.
if Context.environment["PREFETCH_FUZZ"] == "1" {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "PrefetchCore", "PrefetchDocuments", "PrefetchConfig", "PrefetchManifests",
        "PrefetchTransfer", "PrefetchServe",
      ],
      path: "Tests/Fuzzing",
      exclude: ["Corpus", "words.dict"],
      swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
    )
  )
}
