import Testing

/// Dependencies between the targets, in the sources and in the package's manifest.
@Suite struct LayeringTests {
  private static let targets = ImportRules.rows.flatMap(\.self)
  private static let package = PackageTargets(
    manifest: String(decoding: Repository.text(of: "Package.swift"), as: UTF8.self)
  )

  @Test("Every target imports only lower targets, and all of its dependencies")
  func sources() throws {
    for target in Self.targets {
      let files = Repository.swiftFiles(below: "Sources/\(target)")
      #expect(!files.isEmpty, "\(target) has no sources")
      let declared = try #require(Self.package.dependencies[target], "\(target)")
      var imported: Set<String> = []
      for file in files {
        let text = SwiftTokens(Repository.text(of: file))
        imported.formUnion(ImportRules.imports(in: text).map(\.module))
        for problem in ImportRules.problems(of: text, in: target, declared: declared) {
          Issue.record("\(file):\(problem)")
        }
      }
      #expect(declared.subtracting(imported).isEmpty, "\(target) does not need them")
    }
  }

  @Test("The package has no dependency that the rules forbid")
  func manifest() {
    for (target, dependencies) in Self.package.dependencies {
      for module in dependencies {
        let objection = ImportRules.objection(to: module, from: target)
        #expect(objection == nil, "\(target)")
      }
    }
  }

  @Test("The rules know every target and every C library, and no others")
  func completeness() {
    let folders = Repository.names(in: "Sources")
    // Library targets contain a module map, and C targets a folder of headers.
    let libraries = folders.filter {
      Repository.names(in: "Sources/\($0)").contains {
        ["include", "module.modulemap"].contains($0)
      }
    }
    let targets = folders.filter { !Repository.swiftFiles(below: "Sources/\($0)").isEmpty }
    #expect(Set(libraries) == Set(ImportRules.homes.keys))
    #expect(Set(targets) == Set(Self.targets))
    #expect(Set(targets) == Set(Self.package.dependencies.keys))
  }

  private static let declared: Set<String> = [
    "PrefetchCore", "PrefetchCrypto", "CCurl", "COpenSSL",
  ]

  @Test(
    "An import against the rules is found",
    arguments: [
      ("import Foundation", ["1: nothing says what `Foundation` is to PrefetchTransfer"]),
      (
        "import struct Foundation.Data",
        ["1: nothing says what `Foundation` is to PrefetchTransfer"]
      ),
      (
        "\n@preconcurrency import FoundationEssentials",
        ["2: nothing says what `FoundationEssentials` is to PrefetchTransfer"]
      ),
      (
        "#if canImport(Dispatch)\n  import Dispatch\n#endif",
        ["2: nothing says what `Dispatch` is to PrefetchTransfer"]
      ),
      ("import PrefetchStore", ["1: `PrefetchStore` does not stand below PrefetchTransfer"]),
      ("import PrefetchCLI", ["1: `PrefetchCLI` does not stand below PrefetchTransfer"]),
      ("import PrefetchTransfer", ["1: `PrefetchTransfer` does not stand below PrefetchTransfer"]),
      (
        "import PrefetchDocuments",
        ["1: the package does not give `PrefetchDocuments` to PrefetchTransfer"]
      ),
      ("internal import CSQLite", ["1: `CSQLite` is at home elsewhere"]),
      ("import CCurl", ["1: `CCurl` must be an `internal import`"]),
      ("package import CCurl", ["1: `CCurl` must be an `internal import`"]),
      ("private import CCurl", ["1: `CCurl` must be an `internal import`"]),
      ("public import PrefetchCore", ["1: `public import PrefetchCore`"]),
      ("@_exported public import PrefetchCore", ["1: `public import PrefetchCore`"]),
      ("package import Glibc", ["1: `Glibc` is shown to other targets"]),
      (
        "import PrefetchCore; import PrefetchServe",
        ["1: `PrefetchServe` does not stand below PrefetchTransfer"]
      ),
      ("package import PrefetchCore\nimport PrefetchCrypto\ninternal import CCurl", []),
      ("@unsafe @preconcurrency internal import Glibc\n@_spi(A) private import Swift", []),
      ("// import Foundation\n/* import Foundation */\nlet a = \"import Foundation\"", []),
      ("call(import: Foundation)", []),
    ] as [(String, [String])]
  )
  func findings(text: String, expected: [String]) {
    let problems = ImportRules.problems(
      of: SwiftTokens(text),
      in: "PrefetchTransfer",
      declared: Self.declared
    )
    #expect(problems == expected)
  }

  @Test("Targets that decide import no system, C library or neighbour")
  func pureTargets() {
    for target in [
      "PrefetchCore", "PrefetchDocuments", "PrefetchCrypto", "PrefetchConfig", "PrefetchManifests",
      "PrefetchEngine",
    ] {
      #expect(ImportRules.objection(to: "Glibc", from: target) != nil, "\(target)")
      #expect(ImportRules.objection(to: "CCurl", from: target) != nil, "\(target)")
      #expect(ImportRules.objection(to: "PrefetchStore", from: target) != nil, "\(target)")
    }
  }

  @Test("A manifest's targets are read with what they depend on")
  func reading() {
    let manifest = """
      let package = Package(
        targets: [
          library("A", []),
          library("B", ["A", "C"]),
          library(
            "D",
            [
              "A", "B",
            ]
          ),
          .executableTarget(name: "E", dependencies: ["D"], swiftSettings: settings),
          tests("F", ["A"]),
        ]
      )
      """
    #expect(
      PackageTargets(manifest: manifest).dependencies
        == ["A": [], "B": ["A", "C"], "D": ["A", "B"], "E": ["D"]]
    )
  }
}
