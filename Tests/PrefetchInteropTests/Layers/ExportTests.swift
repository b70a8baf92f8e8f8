import PrefetchCore
import PrefetchTestSupport
import Testing

/// Contents that one run has added, exported as a cache of its own.
@Suite("A layer that was exported", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ExportTests {
  private let ground: LayerGround

  private var home: Home { ground.home }
  private var site: Site { ground.site }

  init() throws {
    ground = try LayerGround()
  }

  private static let count = 1_000

  /// From nothing to 80 kB.
  private func body(_ number: Int, version: Int) -> String {
    "item \(number), version \(version)\n"
      + String(repeating: "0123456789abcdef", count: number * 5)
  }

  /// Publishes a version in which one item in a hundred has changed.
  private func publish(version: Int) {
    let entries = (0..<Self.count).map { number -> Manifest.Entry in
      let text = body(number, version: number % 100 == 50 ? version : 0)
      site["/\(number)"] = Site.Page(text)
      return Manifest.Entry("\(number)", digest: Digest.hexadecimal(text))
    }
    site["/list.json"] = Site.Page(Manifest.text(entries))
  }

  private func bytes(_ folder: String) throws -> Int {
    let run = try home.shell(
      "find '\(folder)' -type f -printf '%s\\n' | awk '{ s += $1 } END { print s }'"
    )
    return try #require(Int(run.output.split(separator: "\n").first ?? ""), "\(run)")
  }

  /// Returns whether the cache is complete without any lower layer.
  private func isSoundAlone(_ folder: String) throws -> Bool {
    home.write("name: alone\nsegments: []\n", to: "alone.yaml")
    return try home.run("verify", "-c", "alone.yaml", "--cache-dir", folder).status == 0
  }

  @Test("An exported layer has only changes, and completes the base below it")
  func onePercent() throws {
    let segments = "  - { name: basics, manifest: \"\(ground.url("/list.json"))\" }"
    publish(version: 1)
    ground.configure(segments)
    #expect(try home.run("-q").status == 0)
    try ground.putAway(as: "base")
    publish(version: 2)
    ground.configure(segments, lower: ["base"])
    let base = try ground.fingerprint("base")
    _ = ground.drainRequests()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.totals()["updated"] == 10)
    #expect(ground.drainRequests().count == 11)
    let export = try home.run("export", "--new", "layer", "--json")
    #expect(export.status == 0, "\(export)")
    #expect(try export.json().number("items") == 10)
    let (all, new) = (try bytes(home.path("base")), try bytes(home.path("layer")))
    #expect(new * 50 <= all, "\(new) of \(all)")
    #expect(FileTree.objects(home.path("layer")).count == 11, "with the manifest")
    #expect(try isSoundAlone("layer"))
    // Another machine with an empty cache.
    try ground.putAway(as: "first")
    let layer = try ground.fingerprint("layer")
    ground.configure(segments, lower: ["layer", "base"])
    let second = try home.run("--json")
    #expect(second.status == 0, "\(second.errors)")
    #expect(ground.drainRequests() == ["/list.json"])
    #expect(try second.json().text("segments.0.manifest.status") == "not_modified")
    #expect(try second.totals()["kept"] == Self.count)
    #expect(FileTree.objects(home.cache).isEmpty)
    #expect(try ground.listed().count == Self.count)
    // No body was added, so that the export is empty.
    let empty = try home.run("export", "--new", "nothing", "--json")
    #expect(try empty.json().number("items") == 0)
    #expect(FileTree.objects(home.path("nothing")).isEmpty)
    #expect(try ground.fingerprint("base") == base)
    #expect(try ground.fingerprint("layer") == layer)
  }

  @Test("An exported layer has streams completely, and redirects with their freshness")
  func streams() throws {
    site["/film.m3u8"] = Site.Page(
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\none.ts\n#EXTINF:2,\ntwo.ts\n#EXT-X-ENDLIST\n"
    )
    for name in ["/one.ts", "/two.ts", "/end"] { site[name] = Site.Page("body of \(name)") }
    site["/way"] = Site.Page(
      [],
      headers: [.init("Location", "/end"), .init("Cache-Control", "max-age=3600")],
      status: 302
    )
    let segments = """
        - name: films
          ttl: 1h
          urls: [{ url: "\(ground.url("/film.m3u8"))", type: hls, id: film }, "\(ground.url("/way"))"]
      """
    ground.configure(segments)
    #expect(try home.run("-q").status == 0)
    try ground.putAway(as: "base")
    ground.configure(segments, lower: ["base"])
    _ = ground.drainRequests()
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    // Playlists are revalidated in every run.
    #expect(ground.drainRequests() == ["/film.m3u8"])
    #expect(try run.totals()["not_modified"] == 1 && run.totals()["kept"] == 1)
    #expect(try home.run("verify").status == 0)
    // A new piece is fetched; the other one is revalidated.
    site["/film.m3u8"] = Site.Page(
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\none.ts\n#EXTINF:2,\n2.ts\n#EXT-X-ENDLIST\n"
    )
    site["/2.ts"] = Site.Page("another end")
    #expect(try home.run("--revalidate", "-q").status == 0)
    #expect(ground.drainRequests() == ["/2.ts", "/end", "/film.m3u8", "/one.ts", "/way"])
    let export = try home.run("export", "--new", "layer", "--json")
    #expect(export.status == 0, "\(export)")
    #expect(try export.json().number("items") == 1)
    try ground.putAway(as: "first")
    ground.configure(segments, lower: ["layer", "base"])
    #expect(try home.run("-q").status == 0)
    #expect(ground.drainRequests() == ["/film.m3u8"])
    #expect(try home.run("verify").status == 0)
    #expect(try isSoundAlone("layer"))
  }
}
