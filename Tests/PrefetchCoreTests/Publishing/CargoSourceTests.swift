import Testing

@testable import PrefetchCore

/// What cargo reads in a published tree.
@Suite("The configuration of cargo in a tree")
struct CargoSourceTests {
  @Test(
    "names the folder as a text of TOML",
    arguments: [
      ("/srv/crates", "/srv/crates"), ("/srv/a \"b\"\\c", #"/srv/a \"b\"\\c"#),
      ("/srv/\u{1}\u{7F}é", #"/srv/\u0001\u007fé"#),
    ]
  )
  func folder(_ folder: String, _ text: String) {
    #expect(
      CargoSource.text(for: folder) == """
        [source.crates-io]
        replace-with = "prefetch"

        [source.prefetch]
        local-registry = "\(text)"

        """
    )
  }
}
