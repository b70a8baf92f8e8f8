import PrefetchTestSupport
import Testing

@testable import PrefetchCore

@Suite struct EntryTableTests {
  /// Adds an entry to the columns; returns false when it does not fit there.
  static func add(_ url: String, id: String? = nil, to table: inout EntryTable) -> Bool {
    let url = Array(url.utf8)
    let id = id.map { Array($0.utf8) }
    guard let address = unsafe table.resolve(url.span.bytes) else { return false }
    if let id {
      unsafe table.appendURL(url.span.bytes, at: address, id: id.span.bytes, .init())
    } else {
      unsafe table.appendURL(url.span.bytes, at: address, id: nil, .init())
    }
    return true
  }

  @Test("Joined tables equal one table of all their entries")
  func joined() throws {
    var generator = SeededRandom(seed: 7)
    for round in 0..<200 {
      let pool = WorldPool(hasNetworkRules: round.isMultiple(of: 2), isVaried: true)
      var joined = pool.table(&generator)
      var entries = Array(joined)
      let others = (0..<3).map { _ in pool.table(&generator) }
      var columnCount = joined.indices.count { !joined.hasExtras(at: $0) }
      for other in others {
        columnCount += other.indices.count {
          !other.hasExtras(at: $0) && joined.position(of: other.key(at: $0)) == nil
        }
        entries += other.filter { entry in !entries.contains { $0.url == entry.url } }
        joined.append(contentsOf: other)
      }
      #expect(Array(joined) == entries)
      #expect(joined.indices.count { !joined.hasExtras(at: $0) } == columnCount)
      for position in joined.indices {
        #expect(joined.position(of: joined.key(at: position)) == position)
        #expect(joined.descriptionHash(at: position) == entries[position].descriptionHash)
        let rule = joined.networkRule(at: position).map { joined.networkRules[$0] }
        #expect(rule == entries[position].network)
      }
    }
  }

  @Test("Tens of thousands of small tables are joined in one pass")
  func many() throws {
    var whole = EntryTable()
    for number in 0..<30_000 {
      var part = EntryTable()
      #expect(Self.add("https://a.example/\(number)", to: &part))
      whole.append(contentsOf: part)
    }
    #expect(whole.count == 30_000)
    #expect(whole.byteCount == (0..<30_000).reduce(0) { $0 + "/\($1)".utf8.count })
  }

  @Test("Plain entries are joined as columns")
  func columns() throws {
    var other = EntryTable()
    other.resolveReferences(against: try WebURL("https://a.example/x/"))
    let url = Array("file".utf8)
    let (id, path, word) = (Array("i".utf8), Array("p/q".utf8), Array("image".utf8))
    var details = EntryTable.Details()
    details.metadata = try #require(
      unsafe other.metadata(type: word.span.bytes, provider: nil, mime: word.span.bytes)
    )
    details.size = 7
    let digest = [UInt8](repeating: 5, count: 64)
    details.strongDigest = unsafe StrongDigest(digest.span.bytes)
    details.published = Instant(seconds: 9)
    let address = try #require(unsafe other.resolve(url.span.bytes))
    unsafe other.appendURL(
      url.span.bytes,
      at: address,
      id: id.span.bytes,
      path: path.span.bytes,
      details
    )
    var table = EntryTable([ManifestEntry(url: try WebURL("https://b.example/y"))])
    table.append(contentsOf: other)
    table.append(contentsOf: other)
    #expect(table.count == 2 && table.duplicateCount == 1)
    #expect(table[1] == other[0])
    #expect(table.name(at: 1) == "p/q")
    #expect(table.special.count == 1)
  }

  static let odd = [
    "", "/", "//", "///", "a", "a/", "/a", "//b.example/x", "?", "?q", "#f", "a#f", ".", "..",
    "./a",
    "../a", "a/.", "a/..", "a/./b", "a/../b", ".a", "a/.b", "..a/b", "%2e/a", "%2E%2e/a", "a/%2e",
    "a/%20b", "%41", "a b", " a", "a ", "\ta\n", "a\\b", "a\"b", "a<b", "a>b", "a^b", "a`b", "a{b",
    "a|b", "a}b", "a~b", "a\u{7F}", "a\u{1}", "ä", "日本", "a:b", "./a:b", "x?a:b", "x?y#z",
    "x?a/../b", "x?a/.b", "x??", "x?", "http:", "http:/a", "http://", "http:///a",
    "https://a.example",
    "https://a.example/", "https://a.example/x", "HTTPS://a.example/x", "https://A.example/x",
    "https://a.example:443/x", "https://a.example:8443/x", "http://a.example:80/x",
    "https://a.example?x", "https://a.example/x?y", "https://a.example/x#y",
    "https://u@a.example/x",
    "https://a.example/../x", "https://a.example//x", "https://[::1]/x", "https://[::1]:8/x",
    "https://1.2.3.4/x", "https://1.2.3/x", "https://a..b/x", "https://bücher.example/x",
    "https://a.example:08/", "https://a.example:65535/",
    "https://a.example:65536/", "https://a/", "https://0.0.0.0/", "https://255.255.255.255:81/x",
    "https://256.1.1.1/",
    "https://01.1.1.1/", "https://1.1.1.00/", "https://1.1.1.1.1/", "https://1.1..1/",
    "https://1.1.1./",
    "https://1.1.1.1./", "https://a.1.1.1.1/", "https://1.1.1.1a/", "https://.1.1.1.1/",
    "https://a1.b2-c/", "https://0x7f/",
    "https://a.0x7f/",
    "https://a.1/", "https://-/", "https://.a/", "https://a./", "https://a_b/", "https://a.b",
    "https://\(String(repeating: "a", count: 63)).b/",
    "https://\(String(repeating: "a", count: 64)).b/",
    "https://\(String(repeating: "a.", count: 126))bc/",
    "https://\(String(repeating: "a.", count: 127))b/",
    "https://\(String(repeating: "a.", count: 126))bcd/", "https://a/?", "https://a/b?c?d",
    "https://a/?b/.c", "ftp://a.example/x", "https://a.example:0/x", "https://a.example:/x",
    "https://a.example./x",
    "httpsx", "https", "h", "/x?https://a.example/", "12345678/.x", "1234567/.x", "1234567/%2e",
    "12345678/", "1234567/", "123456789012345#",
  ]

  static let bases = ["https://cdn.example/app/v1/list.json?x=/", "http://b.example", nil]

  /// Checks that a URL accepted without parsing equals the parsed one.
  func check(_ text: String, base: String?) throws -> Bool {
    let base = try base.map { try WebURL($0) }
    try checkParsing(text, base)
    var table = EntryTable()
    if let base { table.resolveReferences(against: base) }
    guard Self.add(text, to: &table) else { return false }
    let expected = try base?.resolving(text) ?? WebURL(text)
    #expect(table.url(at: 0) == expected.string, "\(text)")
    #expect(table.key(at: 0) == URLKey(expected.string), "\(text)")
    let url = table[0].url
    #expect(
      (url.scheme, url.host, url.port, url.path, url.query ?? "-")
        == (expected.scheme, expected.host, expected.port, expected.path, expected.query ?? "-"),
      "\(text)"
    )
    #expect(url.string == expected.string)
    return true
  }

  /// Compares the fast ways of parsing a URL with the slow ones.
  func checkParsing(_ text: String, _ base: WebURL?) throws {
    let results = [
      (Result { try WebURL(text) }, Result { try WebURL(repairing: text) }),
      (
        Result { try base?.resolving(text) ?? WebURL(text) },
        Result { try base?.resolving(repairing: text) ?? WebURL(repairing: text) }
      ),
    ]
    for (short, long) in results {
      switch (short, long) {
      case (.success(let url), .success(let expected)):
        #expect(
          [url.scheme.rawValue, url.host, "\(url.port)", url.path, url.query ?? "-", url.string]
            == [
              expected.scheme.rawValue, expected.host, "\(expected.port)", expected.path,
              expected.query ?? "-", expected.string,
            ],
          "\(text)"
        )
      case (.failure(let fault), .failure(let expected)):
        #expect(fault as? WebURL.Fault == expected as? WebURL.Fault, "\(text)")
      case (.success, .failure), (.failure, .success):
        Issue.record("\(text): \(short), not \(long)")
      }
    }
  }

  @Test("An entry taken by the short path equals the parsed one", arguments: bases)
  func oddURLs(base: String?) throws {
    for text in Self.odd {
      let fitsColumns = try check(text, base: base)
      if base == nil, !text.hasPrefix("http") { #expect(!fitsColumns, "\(text)") }
    }
  }

  @Test("The short path and the parser agree for generated URLs")
  func generatedURLs() throws {
    var generator = SeededRandom(seed: 7)
    let pieces = [
      "/", "//", "a", "img", ".", "..", "%2e", "%41", "?", "#", ":", "https://", "http://",
      "a.example", "B.example", ":443", ":80", ":81", " ", "ä", "~", "{", "|", "\\", "x.png",
      "&a=b",
      "\u{1}", "@",
    ]
    var columnCount = 0
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...7, using: &generator)
      let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      if try check(text, base: Self.bases.randomElement(using: &generator) ?? nil) {
        columnCount += 1
      }
    }
    #expect(columnCount > 1_000)
  }

  @Test(
    "Common spellings take the short path",
    arguments: ["a", "img/a.png", "/a/b?c=d", "https://x.example/y", "a/_b"]
  )
  func fastPath(text: String) throws {
    #expect(try check(text, base: "https://cdn.example/app/list.json"))
  }

  @Test("A repeated URL is counted, whatever its spelling")
  func duplicates() throws {
    var table = EntryTable()
    table.resolveReferences(against: try WebURL("https://a.example/d/"))
    #expect(Self.add("x", id: "1", to: &table))
    #expect(Self.add("/d/x", id: "2", to: &table))
    #expect(Self.add("https://a.example/d/x", to: &table))
    table.append(ManifestEntry(url: try WebURL("https://a.example/d/x#f")))
    #expect(Self.add("y", to: &table))
    #expect(table.map(\.url.string) == ["https://a.example/d/x", "https://a.example/d/y"])
    #expect(table.map(\.id) == ["1", nil])
    #expect(table.duplicateCount == 3)
  }

  @Test("Entries of every kind are returned as they were and found, whatever their number")
  func growth() throws {
    var table = EntryTable { "made from \($0.path)" }
    var expected: [ManifestEntry] = []
    table.resolveReferences(against: try WebURL("https://a.example/d/"))
    for number in 0..<3_000 {
      var entry = ManifestEntry(url: try WebURL("https://a.example/d/\(number)"))
      entry.id = "id \(number)"
      if number.isMultiple(of: 7) {
        entry.title = "t"
        entry.size = Int64(number)
        table.append(entry)
      } else {
        var details = EntryTable.Details()
        if number.isMultiple(of: 3) {
          let digest = [UInt8](repeating: UInt8(number & 0x7F) + 1, count: 32)
          details.digest = ContentDigest(bytes: digest)
          entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest)]
        } else if number.isMultiple(of: 5) {
          let digest = [UInt8](repeating: UInt8(number & 0x7F), count: 64)
          details.strongDigest = unsafe StrongDigest(digest.span.bytes)
          entry.digests = [ExpectedDigest(algorithm: .sha512, bytes: digest)]
        }
        if number.isMultiple(of: 2) {
          details.size = Int64(number)
          entry.size = Int64(number)
        }
        let (type, provider) = (Array("image".utf8), Array("p\(number % 10)".utf8))
        details.metadata = try #require(
          unsafe table.metadata(type: type.span.bytes, provider: provider.span.bytes, mime: nil)
        )
        (entry.type, entry.provider) = ("image", "p\(number % 10)")
        let (url, id) = (Array("\(number)".utf8), Array("id \(number)".utf8))
        let address = try #require(unsafe table.resolve(url.span.bytes))
        unsafe table.appendURL(url.span.bytes, at: address, id: id.span.bytes, details)
      }
      expected.append(entry)
    }
    #expect(Self.add("made", to: &table))
    #expect(Array(table.dropLast()) == expected)
    #expect(table.last?.id == "made from /d/made")
    #expect(table.last?.descriptionHash == table.descriptionHash(at: 3_000))
    for (position, entry) in expected.enumerated() {
      #expect(table.position(of: URLKey(entry.url.string)) == position)
      #expect(table.size(at: position) == entry.size)
      #expect(table.descriptionHash(at: position) == entry.descriptionHash)
      #expect(table.hasExtras(at: position) == (entry.title != nil || table.strong(position)))
    }
    #expect(table.position(of: URLKey("https://a.example/d/3000")) == nil)
    #expect(table.allOrigins.map(\.host) == ["a.example"])
  }

  @Test("Columns take an entry that fits them and return it as it was")
  func briefly() throws {
    let minimal = ManifestEntry(url: try WebURL("https://a.example/x"))
    let said: [(isKept: Bool, change: (inout ManifestEntry) -> Void)] = [
      (false, { $0.id = "i" }), (true, { ($0.id, $0.isIdentifierMade) = ("i", true) }),
      (true, { $0.id = "" }), (false, { $0.provider = "p" }), (false, { $0.type = "image" }),
      (true, { $0.title = "t" }), (false, { $0.size = 0 }), (true, { $0.revision = "r" }),
      (true, { $0.entityTag = "e" }), (false, { $0.mime = "image/png" }),
      (true, { $0.lifetime = .immutable }), (true, { $0.expires = Instant(seconds: 1) }),
      (true, { $0.priority = 1 }), (true, { $0.headers = [HeaderField("A", "b")] }),
      (false, { $0.path = "p/q" }), (true, { $0.path = String(repeating: "p", count: 65_536) }),
      (true, { $0.alternates = [$0.url] }), (false, { $0.published = Instant(seconds: 1) }),
      (true, { $0.network = NetworkPolicy() }), (true, { $0.isRequired = false }),
      (false, { $0.digests = [Self.digest(.sha256, 1)] }),
      // A digest of zeros, which means an absent one in a column.
      (true, { $0.digests = [Self.digest(.sha256, 0)] }),
      (true, { $0.digests = [Self.digest(.sha512, 1)] }),
      (true, { $0.digests = [Self.digest(.sha256, 1), Self.digest(.sha256, 2)] }),
    ]
    for (number, (isKept, change)) in said.enumerated() {
      var entry = minimal
      change(&entry)
      var table = EntryTable()
      table.appendToColumns(entry)
      #expect(Array(table) == [entry], "\(number)")
      #expect(table.hasExtras(at: 0) == isKept, "\(number)")
      #expect(table.descriptionHash(at: 0) == entry.descriptionHash, "\(number)")
      table.appendToColumns(entry)
      #expect(table.count == 1 && table.duplicateCount == 1, "\(number)")
    }
  }

  private static func digest(_ algorithm: DigestAlgorithm, _ byte: UInt8) -> ExpectedDigest {
    let count = algorithm == .sha256 ? 32 : 64
    return ExpectedDigest(algorithm: algorithm, bytes: [UInt8](repeating: byte, count: count))
  }

  @Test("An id made from the URL does not change an entry's description")
  func madeIdentifiers() throws {
    var entry = ManifestEntry(url: try WebURL("https://a.example/"))
    let before = entry.descriptionHash
    (entry.id, entry.isIdentifierMade) = ("abc", true)
    #expect(entry.descriptionHash == before)
    entry.isIdentifierMade = false
    #expect(entry.descriptionHash != before)
  }
}

extension EntryTable {
  fileprivate func strong(_ position: Int) -> Bool {
    self[position].digests.first?.algorithm == .sha512
  }
}

@Suite struct KeyTableTests {
  @Test("Keys differ with every byte and every length")
  func keys() {
    var keys = Set<URLKey>()
    for length in 0...40 {
      keys.insert(URLKey(String(repeating: "a", count: length)))
      for index in 0..<length {
        var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        text[index] = UInt8(ascii: "b")
        keys.insert(URLKey(String(decoding: text, as: UTF8.self)))
      }
    }
    #expect(keys.count == 41 + 40 * 41 / 2)
    #expect(URLKey("a\u{0}") != URLKey("a"))
  }

  @Test("Bytes and strings give the same key")
  func spellings() {
    for text in ["", "x", "1234567", "12345678", "123456789012345", "1234567890123456", "ä日本"] {
      let bytes = Array(text.utf8)
      #expect(unsafe URLKey(bytes.span.bytes) == URLKey(text))
    }
  }

  @Test(
    "A position is found by its key alone while the table grows, gaps or none",
    arguments: [1, 3]
  )
  func growth(step: Int) {
    let keys = (0..<9_000).map { URLKey("key \($0)") }
    var table = KeyTable()
    for position in stride(from: 0, to: keys.count, by: step) {
      #expect(table.insert(keys[position], at: position) { keys[$0] } == nil)
    }
    #expect(table.insert(keys[0], at: 8_999) { keys[$0] } == 0)
    #expect(table.count == 9_000 / step)
    for position in keys.indices {
      let known = table.position(of: keys[position]) { keys[$0] }
      #expect(known == (position.isMultiple(of: step) ? position : nil))
    }
  }
}
