import PrefetchCore
import PrefetchTestSupport
import Testing

/// Small valid documents for each reader, with the reader's special features.
enum MutationSamples {
  struct Row: Sendable, CustomTestStringConvertible {
    var format: ManifestFormat?
    /// Role of a document that is not a manifest of its own.
    var documentRole: FurtherDocument.Role?
    var samples: [String]

    /// Address of the documents, by which the reader of a hub's knows the repository.
    var address: String {
      let api = "https://hub.example/api/models/acme/tiny"
      if documentRole == .hubTree { return "\(api)/tree/\(HubText.name("a commit"))" }
      return format == .hf ? "\(api)/revision/main" : "https://cdn.example/lists/LIST"
    }

    var testDescription: String {
      switch documentRole {
      case .hubTree: "files of a hub's commit"
      case .packageIndex: "index of a package"
      case .checksums: "checksums of a release"
      case .page, .sitemap, .moduleSource, .dates, nil: format?.rawValue ?? "manifest"
      }
    }
  }

  static let all: [Row] =
    [
      (.native, native), (.ndjson, ndjson), (.list, lists), (.checksums, checksums),
      (.metalink, metalinks), (.sitemap, sitemaps), (.rss, feeds), (.atom, feeds),
      (.json, lock(.json)), (.packageLock, lock(.packageLock)), (.pylock, lock(.pythonLock)),
      (.pip, lock(.requirements)), (.goSum, lock(.goSums)),
      (.cargoLock, lock(.cargoLock)), (.uvLock, lock(.uvLock)), (.yarnLock, lock(.yarnLock)),
      (.pnpmLock, lock(.pnpmLock)), (.bazelLock, lock(.bazelLock)), (.releases, releases),
      (.lockfile, lockfiles), (.hf, hubRevisions),
    ].map { Row(format: $0, samples: $1) } + [
      Row(documentRole: .hubTree, samples: hubTrees),
      Row(documentRole: .packageIndex(requirement), samples: lock(.packageIndex)),
      Row(
        documentRole: .checksums(ReleaseChecksums(folder: "v1", subject: "a.gz")),
        samples: checksums + ["\(sha256)\n"]
      ),
    ]

  private static let requirement = PackageRequirement(
    project: "left",
    version: "1.0",
    digests: [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 0xAB, count: 32))]
  )

  private static func lock(_ reader: LockReader) -> [String] {
    LockReader.seeds[reader] ?? []
  }

  private static let sha256 = String(repeating: "9f", count: 32)
  private static let sha512 = String(repeating: "0a", count: 64)
  private static let md5 = String(repeating: "5e", count: 16)

  private static let native = [
    """
    {"format": "prefetch-manifest", "version": 1, "generated": "2026-11-20T05:00:00Z",
    "base": "https://cdn.example/app/", "alternates": ["https://m.example/app/"], "next": "?2",
    "items": ["a.png", {"url": "b", "size": 3, "mtime": "2026-11-20", "path": "d/b",
    "digests": {"sha256": "\(sha256)"}, "alternates": ["c", {"url": "d", "priority": 1}]}]}
    """,
    "{\"format\": \"prefetch-manifest\", \"version\": 1, \"items\": []}",
  ]

  private static let lockfiles = [
    """
    {"format":"prefetch-lockfile/1","platform":"linux/x86_64"}
    {"segment":"a","list":"\(sha256)","lines":2}
    {"segment":"a","url":"https://a.example/x","size":3,"sha256":"\(sha256)","path":"d/x"}
    {"segment":"a","url":"https://a.example/y","size":0,"sha256":"\(sha256)"}

    """,
    """
    {"format":"prefetch-lockfile/1"}
    {"segment":"a","lines":1}
    {"segment":"a","url":"https://a.example/\(String(repeating: "folder/", count: 60))x","size":3,"sha256":"\(sha256)"}

    """,
    """
    {"format":"prefetch-lockfile/1"}
    {"segment":"films","lines":2}
    {"segment":"films","url":"https://a.example/f.m3u8","size":3,"sha256":"\(sha256)","type":"hls"}
    {"segment":"films","url":"https://a.example/1.ts","size":3,"sha256":"\(sha256)","item":"https://a.example/f.m3u8"}

    """,
  ]

  private static let ndjson = [
    """
    {"format": "prefetch-manifest", "version": 1}
    {"url": "https://a.example/x", "integrity": "sha512-AAAA"}
    "https://a.example/y"
    """
  ]

  private static let releases = ForgeText.allCases.flatMap { forge in
    let assets = [
      ForgeText.Asset("a.gz"), ForgeText.Asset("b.gz", number: 2, digest: sha256),
      ForgeText.Asset("SHA256SUMS", number: 3),
    ]
    let release = ForgeText.Release("v1", assets)
    let (api, site) = ("https://api.example/r", "https://a.example/dl")
    return [
      forge.list([release], api: api, site: site), forge.release(release, api: api, site: site),
    ]
  }

  private static let hubFiles = [
    HubText.File("a b/model.bin", "large", isLarge: true), HubText.File("config.json", "{}"),
  ]
  private static let hubRevisions = [
    HubText.revision("acme/tiny", HubText.commit(of: hubFiles), hubFiles)
  ]
  private static let hubTrees = [HubText.tree(hubFiles)]

  private static let lists = [
    "# set\r\nhttps://a.example/x#sha256=\(sha256)\r\nb c.png\r\n\r\nhttps://a.example/y",
    "https://a.example/x\thttps://b.example/x\n  out=d/x\n  checksum=sha-256=\(sha256)\n  x=y\n",
    "@EXPLICIT\nhttps://a.example/x#\(md5)\nhttps://a.example/y#sha256:\(sha256)\n../z\n",
  ]

  private static let checksums = [
    "\(sha256)  a.iso\n\(sha256) *./d/b c.iso\n\\\(sha512)  x\\\\y\\n\n\(md5)  ä\n",
    "# a: 5 bytes\nSHA256 (a) = \(sha256)\nMD5 (a) = \(md5)\nSize (a) = 5 bytes\nSM3 (b) = 1\n",
    """
    -----BEGIN PGP SIGNED MESSAGE-----
    Hash: SHA256

    - SHA256 (../a) = \(sha256)
    -----BEGIN PGP SIGNATURE-----
    iQ
    """,
  ]

  private static let metalinks = [
    """
    <metalink xmlns="urn:ietf:params:xml:ns:metalink"><published>2026-11-20T05:00:00Z</published>
    <file name="d/t"><size>12</size><hash type="sha-256">\(sha256)</hash>
    <url priority="1">https://a.example/t</url><url>ftp://b.example/t</url></file></metalink>
    """,
    """
    <metalink version="3.0"><files><file name="t"><verification><hash type="md5">\(md5)</hash>
    </verification><resources><url type="http" preference="9">http://a.example/t</url></resources>
    </file></files></metalink>
    """,
  ]

  private static let sitemaps = [
    """
    <?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>https://cdn.example/?a=1&amp;b=2</loc><lastmod>2026-11</lastmod><priority>0.7</priority>
    </url><url><loc><![CDATA[/x]]></loc></url></urlset>
    """,
    "<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/1.xml.gz</s:loc></s:sitemap></s:sitemapindex>",
  ]

  private static let feeds = [
    """
    <rss><channel><item><title>A</title><guid>1</guid><pubDate>Fri, 20 Nov 2026 05:00 +0100</pubDate>
    <enclosure url="https://a.example/x" type="audio/mpeg" length="0"/></item></channel></rss>
    """,
    """
    <feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><updated>2026-11-20T05:00:00Z</updated>
    <link rel="enclosure" href="/x"/><link rel="enclosure" href="y"/></entry></feed>
    """,
  ]
}
