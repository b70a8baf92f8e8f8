import PrefetchConfig
import Testing

/// The examples of the repository are read by the program that they are examples of.
@Suite struct ExampleTests {
  @Test(
    "Every example is a valid configuration",
    arguments: [
      "quickstart/prefetch.yaml", "ci-cache/prefetch.yaml", "cron/prefetch.yaml",
      "registration/prefetch.yaml", "library/prefetch.yaml", "kiosk/prefetch.yaml",
      "signage/prefetch.yaml", "notify/prefetch.yaml", "slurm/prefetch.yaml",
      "github-matrix/prefetch.yaml",
      "mirror/prefetch.json", "info-plist/Info.plist",
    ]
  )
  func example(name: String) throws {
    let bytes = try #require(Snapshots.read("../../../examples/\(name)"))
    var world = TestWorld()
    world.files[name] = bytes
    let loaded = world.load(name) { loader in
      guard name.hasSuffix(".plist") else { return }
      loader.overrides = [
        Override(
          path: "manifests",
          text: "https://cdn.example.com/{segment}.json",
          source: "--manifests"
        )
      ]
    }
    #expect(loaded.diagnostics == [], "\(loaded.rendered)")
    #expect(!loaded.configuration.segments.isEmpty)
  }
}
