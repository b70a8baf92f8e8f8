import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

/// Documents designed to be expensive; each once took minutes or gigabytes.
@Suite struct HostileManifestTests {
  private static let sums = (0..<20_000).map { number in
    Hexadecimal.encode((0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) })
  }

  @Test("A line of a hundred thousand invalid mirrors causes at most a hundred warnings")
  func mirrors() throws {
    let text =
      "https://a.example/x" + String(repeating: "\tx", count: 100_000) + "\n"
      + (0..<300).map { "https://a.example/\($0)\tx\ty" }.joined(separator: "\n")
    let manifest = try readText(text, base: nil).get()
    #expect(manifest.entries.count == 301)
    #expect(manifest.warnings.count == 101)
    #expect(manifest.warnings.last?.message == "600 more like these are not shown")
  }

  @Test("A hundred of tens of thousands of digests of one file count")
  func digests() throws {
    let fragment = Self.sums.map { "sha256=\($0)" }.joined(separator: "&")
    let options = Self.sums.map { "\n  checksum=sha-256=\($0)" }.joined()
    let hashes = Self.sums.prefix(9_000).map { "<hash type='sha-256'>\($0)</hash>" }.joined()
    let goSums = Self.sums.map { sum in
      "a.example/m v1.0.0 h1:\(Base64.encode(Hexadecimal.decode(sum) ?? []))"
    }
    let url = "https://a.example/x"
    for (text, format) in [
      ("\(url)#\(fragment)", .list), (url + options, .list),
      ("<metalink><file name='x'><url>\(url)</url>\(hashes)</file></metalink>", .metalink),
      (goSums.joined(separator: "\n"), .goSum),
    ] as [(String, ManifestFormat)] {
      let manifest = try readText(text, format: format).get()
      #expect(manifest.entries.first?.digests.count == 100, "\(format)")
    }
  }

  @Test("Tens of thousands of hashes of one requirement are all kept")
  func hashes() throws {
    let options = Self.sums.map { " --hash=sha256:\($0)" }.joined()
    let text = "left @ https://a.example/left.zip#sha256=\(Self.sums[7])\(options)"
    let manifest = try readText(text, format: .pip).get()
    #expect(manifest.entries.first?.digests.count == 20_000)
  }

  @Test("An entry of a feed with thousands of files is read in one pass")
  func feed() throws {
    let files = (0..<9_000).map { "<enclosure url='https://a.example/\($0)'/>" }.joined()
    let text = "<rss><channel><item>\(files)<title>T</title></item></channel></rss>"
    let manifest = try readText(text).get()
    #expect(manifest.entries.count == 9_000)
    #expect(manifest.entries.last?.title == "T")
  }

  @Test("A manifest that repeats its base is refused")
  func bases() {
    let items = (0..<2_000).map { "\"\($0)\"" }.joined(separator: ",")
    let bases = String(repeating: ",\"base\":\"/x/\"", count: 2_000)
    let text = "{\"format\":\"prefetch-manifest\",\"version\":1,\"items\":[\(items)]\(bases)}"
    guard case .failure(let failure) = readText(text) else {
      Issue.record("it was read")
      return
    }
    #expect(failure.message.contains("duplicate key `base`"), "\(failure.message)")
  }

  @Test("A list of tens of thousands of tables is read in one pass")
  func tables() throws {
    let package = "\n[[packages]]\nname = \"a\"\narchive = {url = \"https://a.example/"
    let packages = (0..<20_000).map { "\(package)\($0).zip\", hashes = {}}" }.joined()
    let manifest = try readText("lock-version = \"1.0\"" + packages, format: .pylock).get()
    #expect(manifest.entries.count == 20_000)
  }

  @Test("Hundreds of unknown options cause a hundred warnings")
  func options() throws {
    let text = String(repeating: "--odd\n", count: 500) + "left @ https://a.example/left.zip"
    let manifest = try readText(text, format: .pip).get()
    #expect(manifest.entries.count == 1)
    #expect(manifest.warnings.count == 101)
  }

  @Test(
    "More than a million lines of items are read as a manifest, and not as a list",
    .enabled(if: Campaign.isLong)
  )
  func lines() throws {
    let head = "{\"format\": \"prefetch-manifest\", \"version\": 1"
    let items = (0..<1_000_001).map { "\"/\($0)\"" }
    let manifest = try readText("\(head)}\n" + items.joined(separator: "\n")).get()
    #expect(manifest.entries.count == 1_000_001)
    #expect(
      throws: Failure(
        .manifestInvalid,
        "line 1000001, column 1: it lists more than 1000000 items, which is as many as are read"
      )
    ) {
      try readText("\(head), \"items\": [" + items.joined(separator: ",\n") + "]}").get()
    }
  }

  @Test(
    "A long base turns a few megabytes into at most a gigabyte",
    .enabled(if: Campaign.isLong),
    arguments: ["{\"url\": \"N\"}", "{\"url\": \"N\", \"size\": -1}", "N"]
  )
  func longBase(item: String) {
    let base = "https://a.example/" + String(repeating: "x", count: 8_000) + "/"
    let items = (0..<140_000).map { item.replacing("N", with: "\($0)") }
    let text =
      item == "N"
      ? items.joined(separator: "\n")
      : "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\n"
        + items.joined(separator: ",\n") + "]}"
    let reading = readText(text, format: item == "N" ? .list : nil, base: base)
    guard case .failure(let failure) = reading else {
      Issue.record("it was read")
      return
    }
    #expect(failure.message.hasSuffix("its URLs, made whole, come to more than 1073741824 bytes"))
  }
}
