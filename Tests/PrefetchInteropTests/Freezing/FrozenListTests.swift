import PrefetchCore
import PrefetchTestSupport
import Testing

/// Lists of all formats, each with items of its own on one server.
private struct ListsOfAllFormats {
  let ground: FreezeGround
  private(set) var segments: [String] = []

  init(_ ground: FreezeGround) {
    self.ground = ground
    make()
  }

  private func address(_ path: String) -> String { ground.server.address(path) }

  /// Serves an item and returns its URL, SHA-256 and SHA-512 (base64).
  private func item(_ path: String) -> (url: String, sha256: String, integrity: String) {
    let text = "body of \(path)"
    ground.serve(text, at: path)
    let bytes = Array(text.utf8)
    return (address(path), Digest.hexadecimal(bytes), integrity(text))
  }

  /// Returns the SHA-512 of a text in the spelling of npm's lock files.
  private func integrity(_ text: String) -> String {
    ground.home.write(text, to: "body")
    let sum = try? ground.home.tool("sha512sum", "body").output
    let bytes = Hexadecimal.decode(String((sum ?? "").prefix(128))) ?? []
    return "sha512-" + Base64.encode(bytes)
  }

  private mutating func list(
    _ name: String,
    _ rules: String = "",
    text: (_ items: [(url: String, sha256: String, integrity: String)]) -> String
  ) {
    let items = (0..<6).map { item("/\(name)/\(name)-\($0).bin") }
    ground.serve(text(items), at: "/\(name)/list")
    segments.append(
      "  - { name: \(name), manifest: \"\(address("/\(name)/list"))\", \(rules) }"
    )
  }

  private mutating func make() {
    list("urls", "format: list") { $0.map { $0.url + "\n" }.joined() }
    list("fragments", "format: list") { $0.map { "\($0.url)#sha256=\($0.sha256)\n" }.joined() }
    list("names", "format: list") { $0.indices.map { "names-\($0).bin\n" }.joined() }
    list("aria", "format: list") {
      $0.map { "\($0.url)\n  checksum=sha-256=\($0.sha256)\n" }.joined()
    }
    list("sums") { $0.enumerated().map { "\($1.sha256)  sums-\($0).bin\n" }.joined() }
    list("bsd") { $0.enumerated().map { "SHA256 (bsd-\($0).bin) = \($1.sha256)\n" }.joined() }
    list("native") {
      let items = $0.map { "{\"url\":\"\($0.url)\",\"digests\":{\"sha256\":\"\($0.sha256)\"}}" }
      return """
        {"format":"prefetch-manifest","version":1,"items":[\(items.joined(separator: ","))]}
        """
    }
    list("plain") {
      let items = $0.map { "{\"url\":\"\($0.url)\",\"ttl\":\"1h\"}" }
      return """
        {"format":"prefetch-manifest","version":1,"items":[\(items.joined(separator: ","))]}
        """
    }
    list("lines", "format: ndjson") {
      "{\"format\":\"prefetch-manifest\",\"version\":1}\n"
        + $0.map { "{\"url\":\"\($0.url)\"}\n" }.joined()
    }
    list("json", "format: json") {
      "[" + $0.map { "\"\($0.url)\"" }.joined(separator: ",") + "]"
    }
    list("pointers", "json: { items: /files, url: /at, sha256: /sum }") {
      "{\"files\":["
        + $0.map { "{\"at\":\"\($0.url)\",\"sum\":\"\($0.sha256)\"}" }.joined(separator: ",") + "]}"
    }
    list("metalink") {
      let files = $0.enumerated().map {
        "<file name=\"metalink-\($0).bin\"><hash type=\"sha-256\">\($1.sha256)</hash><url>\($1.url)</url></file>"
      }
      return "<?xml version=\"1.0\"?><metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">"
        + files.joined() + "</metalink>"
    }
    list("sitemap") {
      "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"
        + $0.map { "<url><loc>\($0.url)</loc></url>" }.joined() + "</urlset>"
    }
    list("rss") {
      "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>t</title>"
        + $0.map { "<item><enclosure url=\"\($0.url)\" length=\"0\" type=\"x/y\"/></item>" }
        .joined()
        + "</channel></rss>"
    }
    list("atom") {
      "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\">"
        + $0.map { "<entry><link rel=\"enclosure\" href=\"\($0.url)\"/></entry>" }.joined()
        + "</feed>"
    }
    list("npm", "format: package-lock") {
      let packages = $0.enumerated().map {
        "\"node_modules/p\($0)\":{\"version\":\"1.0.\($0)\",\"resolved\":\"\($1.url)\",\"integrity\":\"\($1.integrity)\"}"
      }
      return "{\"lockfileVersion\":3,\"packages\":{\"\":{},\(packages.joined(separator: ","))}}"
    }
    list("pylock", "format: pylock") {
      "lock-version = \"1.0\"\ncreated-by = \"test\"\n"
        + $0.enumerated().map {
          "[[packages]]\nname = \"p\($0)\"\nversion = \"1.\($0)\"\n[[packages.wheels]]\nname = \"p\($0)-1.\($0)-py3-none-any.whl\"\nurl = \"\($1.url)\"\nhashes = { sha256 = \"\($1.sha256)\" }\n"
        }.joined()
    }
    list("uv", "format: uv-lock") {
      "version = 1\nrequires-python = \">=3.8\"\n"
        + $0.enumerated().map {
          "[[package]]\nname = \"p\($0)\"\nversion = \"1.\($0)\"\nsource = { registry = \"https://pypi.org/simple\" }\nwheels = [{ url = \"\($1.url)\", hash = \"sha256:\($1.sha256)\" }]\n"
        }.joined()
    }
    list("pip", "format: pip") {
      $0.enumerated().map { "p\($0) @ \($1.url) --hash=sha256:\($1.sha256)\n" }.joined()
    }
    list(
      "cargo",
      "format: cargo-lock, cargo: { download: \"\(address("/cargo/cargo-{version}.bin"))\" }"
    ) {
      "version = 3\n"
        + $0.enumerated().map {
          "[[package]]\nname = \"c\"\nversion = \"\($0)\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"\($1.sha256)\"\n"
        }.joined()
    }
    let inline = (0..<6).map { "\"\(item("/inline/\($0).bin").url)\"" }
    segments.append("  - { name: inline, urls: [\(inline.joined(separator: ", "))] }")
  }
}

@Suite("Locks of lists of all formats", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct FrozenListTests {
  @Test("Two machines with other orders write equal bytes, and ask nothing under the lock")
  func equalBytes() throws {
    let ground = try FreezeGround()
    let lists = ListsOfAllFormats(ground)
    #expect(lists.segments.count >= 20)
    ground.home.configure(ground.configuration(lists.segments.joined(separator: "\n")))
    let first = try ground.run("run")
    #expect(first.status == 0, "\(first)")
    #expect(try ground.run("freeze").status == 0)
    let lock = ground.lock
    #expect(lock.split(separator: "\n").count == 1 + 7 * lists.segments.count, "\(lock)")
    #expect(try ground.run("run", "--frozen").status == 0)
    #expect(ground.requests.isEmpty, "\(ground.requests)")

    let other = try Home(isInMemory: true)
    other.configure(ground.configuration(lists.segments.reversed().joined(separator: "\n")))
    #expect(try other.run("run", "-j", "1").status == 0)
    #expect(try other.run("freeze").status == 0)
    #expect(other.read("prefetch.lock") == lock)
    // The lock is enough for a machine that has never run.
    let fresh = try Home(isInMemory: true)
    fresh.configure(ground.configuration(lists.segments.joined(separator: "\n")))
    fresh.write(lock, to: "prefetch.lock")
    #expect(try fresh.run("run", "--frozen").status == 0)
    #expect(try fresh.run("freeze", "--check").status == 0)
  }

  @Test("Random changes are refused under the lock, found without it, and named by a plan")
  func randomChanges() throws {
    let rounds = Binary.rounds
    var random = SeededRandom(7)
    let ground = try FreezeGround()
    let names = (0..<8).map { "f\($0).bin" }
    func publish() {
      ground.publish(Dictionary(uniqueKeysWithValues: names.map { ($0, "first \($0)") }))
      for name in names {
        ground.serve("first \(name)", at: "/store/\(name)")
        ground.serve("other \(name)", at: "/moved/\(name)")
      }
      for name in names.prefix(3) { redirect(name, to: "/store/\(name)") }
    }
    func redirect(_ name: String, to path: String) {
      ground.site["/pub/\(name)"] = Site.Page(
        [],
        headers: [HeaderField("Location", ground.server.address(path))],
        status: 302
      )
    }
    publish()
    ground.declare()
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    for round in 0..<rounds {
      let number = Int.random(in: 0..<names.count, using: &random)
      let name = names[number]
      if number < 3 {
        redirect(name, to: "/moved/\(name)")
      } else if Bool.random(using: &random) {
        ground.serve("changed \(round)", at: "/pub/\(name)")
      } else {
        let list = String(decoding: ground.site["/pub/list.txt"]?.body ?? [], as: UTF8.self)
        let digest = Digest.hexadecimal(Array("other".utf8))
        ground.serve("other", at: "/pub/\(name)")
        ground.serve(list.replacing(name, with: "\(name)#sha256=\(digest)"), at: "/pub/list.txt")
      }
      let plan = try ground.run("plan", "--json")
      let drift = try plan.json().list("drift").map { $0.text("url") ?? "" }
      #expect(drift == [ground.server.address("/pub/\(name)")], "\(round): \(plan)")
      let kept = try ground.run("run", "--refetch")
      #expect(kept.status == 5, "\(round): \(kept)")
      #expect(ground.shown(name) == "first \(name)", "\(round)")
      let taken = try ground.run("run", "--refetch", "--set", "lockfile=none")
      #expect(taken.status == 0, "\(round): \(taken)")
      let check = try ground.run("freeze", "--check")
      #expect(check.status == 2 && check.output.contains("~ files\t"), "\(round): \(check)")
      #expect(check.output.contains(name), "\(round): \(check)")
      publish()
      #expect(try ground.run("run").status == 0, "\(round)")
      #expect(try ground.run("freeze", "--check").status == 0, "\(round)")
    }
  }
}
