import PrefetchCore
import Testing

@testable import PrefetchCore

/// Documents of a run and their owners, without a run.
@Suite("Documents of a run")
struct DocumentsTests {
  private static func url(_ name: String) throws -> WebURL {
    try WebURL("https://a.example/\(name)")
  }

  private static func digest(_ number: UInt8) -> ContentDigest {
    ContentDigest(bytes: [UInt8](repeating: number, count: 32)) ?? .none
  }

  private static func body(_ number: UInt8) -> StagedBody {
    StagedBody(id: Int(number), digest: digest(number), size: 1)
  }

  private static func manifest(_ names: [String]) throws -> Manifest {
    var manifest = Manifest()
    manifest.entries = EntryTable(try names.map { ManifestEntry(url: try url($0)) })
    return manifest
  }

  /// Returns a segment's manifest, its page, that page's page, and the manifest's signature.
  private static func documents() throws -> Documents {
    let declaration = SegmentDeclaration(name: "a", source: .remote(try url("list.json")))
    var documents = Documents([declaration])
    for name in ["page1", "page2"] {
      let page = FurtherDocument(url: try url(name), kind: .page)
      let number = documents.add(
        DocumentWork(segment: 0, role: .further(page), url: try url(name), named: .local)
      )
      documents[number - 1].children = [number]
    }
    let signature = documents.add(
      DocumentWork(
        segment: 0,
        role: .signature(of: 0),
        url: try url("list.json.minisig"),
        named: .local
      )
    )
    documents[0].signature = signature
    return documents
  }

  @Test(
    "A manifest is joined in order, and is public if any part is"
  )
  func whole() throws {
    for outside in [nil, 0, 1, 2] {
      var documents = try Self.documents()
      for (number, names) in [["1"], ["2", "3"], ["4"]].enumerated() {
        documents[number].manifest = try Self.manifest(names)
        if number == outside { documents[number].provenance = .publicServer }
      }
      let (whole, provenance) = documents.wholeManifest(0)
      #expect(whole.entries.map(\.url.path) == ["/1", "/2", "/3", "/4"])
      #expect(provenance == (outside == nil ? .local : .publicServer))
      #expect(documents.allSatisfy { $0.manifest == nil }, "they are let go of")
    }
  }

  @Test("The remembered documents are parts and signatures, with their bodies once")
  func accepted() throws {
    var documents = try Self.documents()
    for number in documents.indices {
      let name = documents[number].url?.string ?? ""
      documents[number].accepted = DocumentRecord(url: name, digest: Self.digest(UInt8(number)))
      documents[number].staged = Self.body(UInt8(number))
    }
    let first = documents.drainAccepted(0)
    #expect(first.records.map(\.digest) == [3, 1, 2].map(Self.digest))
    #expect(first.bodies.map(\.id) == [3, 1, 2])
    let second = documents.drainAccepted(0)
    #expect(second.records == first.records && second.bodies.isEmpty)
    #expect(documents[0].staged != nil, "the manifest's own body is its segment's")
  }

  @Test("Dropping a segment returns the bodies and the requests of its documents")
  func dropped() throws {
    var documents = try Self.documents()
    documents[0].staged = Self.body(1)
    documents[1].exchange = ExchangeBox(Exchange(url: try Self.url("page1")))
    documents[2].exchange = ExchangeBox(Exchange(url: try Self.url("page2")))
    documents[2].bytes = .stored(Self.digest(2))
    let dropped = documents.drop(0)
    #expect(dropped.bodies.map(\.id) == [1])
    #expect(dropped.jobs == [.document(1)] && dropped.authorities == ["a.example"])
    #expect(documents.isDocument(.document(1), of: 0) && !documents.isDocument(.item(1), of: 0))
  }

  @Test(
    "A signature is beside its document, whatever the query",
    arguments: [("list.json", "list.json.minisig"), ("list.json?a=b", "list.json.minisig?a=b")]
  )
  func signature(of name: String, at location: String) throws {
    #expect(try Documents.signatureURL(of: Self.url(name)) == Self.url(location))
  }

  @Test(
    "The newest manifest of another configuration is offered, and not one of our own"
  )
  func offers() throws {
    var segments: [SegmentRecord] = []
    for (identity, digest, time) in [("me", UInt8(1), Int64(9)), ("b", 2, 7), ("c", 3, 5)] {
      var record = SegmentRecord(key: SegmentKey(identity: identity, name: "a"))
      record.manifestURL = try Self.url("list.json").string
      record.manifest = Self.digest(digest)
      record.manifestRequestHash = 7
      record.lastChecked = Instant(seconds: time)
      segments.append(record)
    }
    for (others, requestHash, offered) in [
      (0, UInt64(7), nil), (1, 7, UInt8(2)), (2, 7, 1), (2, 8, nil),
    ] as [(Int, UInt64, UInt8?)] {
      var documents = try Self.documents()
      // Among several segments the last revalidation counts, even if it is this configuration's
      // own.
      let known = others == 1 ? [segments[1], segments[2]] : Array(segments.prefix(others + 1))
      let offer = documents.offer(0, requestHash: requestHash, among: known, excluding: "me")
      #expect(offer?.digest == offered.map(Self.digest), "\(others)")
    }
    var documents = try Self.documents()
    documents[0].stored = DocumentRecord(
      url: try Self.url("list.json").string,
      digest: Self.digest(2)
    )
    let same = documents.offer(0, requestHash: 7, among: [segments[1]], excluding: "me")
    #expect(same == nil, "it is here already")
  }
}
