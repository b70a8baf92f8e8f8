import Testing

@testable import PrefetchCore

/// The configuration that Cargo reads in a published tree.
@Suite("The configuration of cargo in a tree")
struct CargoSourceTests {
  @Test("The configuration of cargo names its tree by a relative path")
  func relativeTree() {
    #expect(CargoSource.fileName == ".cargo/config.toml")
    #expect(
      CargoSource.text == """
        [source.crates-io]
        replace-with = "prefetch"

        [source.prefetch]
        local-registry = "."

        """
    )
    #expect(!CargoSource.holds(CargoSource.fileName))
  }
}
