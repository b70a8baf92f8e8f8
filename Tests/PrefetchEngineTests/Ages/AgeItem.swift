import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport

/// An item that changes from night to night, known by one kind of mark.
struct AgeItem {
  enum Kind: CaseIterable {
    /// The list declares the digest.
    case declared
    /// The list declares the digest, and the date of the first body.
    case published
    /// The server states a tag.
    case tagged
    /// The server states a date and a length.
    case dated
    /// The server states nothing.
    case bare
  }

  let name: String
  let kind: Kind
  let published: Instant?
  var version = 0
  var isListed = true

  init(_ number: Int, _ kind: Kind, published: Instant?) {
    name = "\(kind)-\(number)"
    self.kind = kind
    self.published = kind == .published ? published : nil
  }

  var body: String { "\(name) \(version)" }

  var page: Site.Page {
    let bytes = Array(body.utf8)
    switch kind {
    case .declared, .published, .tagged: return Site.Page(body)
    case .dated:
      let date = HTTPDate.format(Instant(seconds: 1_600_000_000 + Int64(version) * 60))
      let length = HeaderField("Content-Length", "\(bytes.count)")
      return Site.Page(bytes, lastModified: date, headers: [length])
    case .bare: return Site.Page(bytes)
    }
  }

  func entry() throws -> ManifestEntry {
    var entry = Bench.entry(try WebURL("https://a.example/\(name)"))
    entry.published = published
    if kind == .declared || kind == .published {
      let digest = SHA256.digest(of: Array(body.utf8)).bytes
      entry.digests = [ExpectedDigest(algorithm: .sha256, bytes: digest)]
    }
    return entry
  }
}
