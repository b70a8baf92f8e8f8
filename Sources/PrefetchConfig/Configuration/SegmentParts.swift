package import PrefetchCore
import PrefetchDocuments

/// What the bodies of a segment must look like.
package struct Expectation: Hashable, Sendable {
  package var mime: [String] = []
  package var minimumSize: Int64?
  package var maximumSize: Int64?
  package var magic: String?

  static let table = ObjectType(Self(), name: "expect") {
    Field("mime", \.mime, .oneOrMore(.mediaType), "Media types, `image/*` for all of a kind")
    Field("min_size", \.minimumSize, .size, "Fewest bytes of a body")
    Field("max_size", \.maximumSize, .size, "Most bytes of a body")
    Field(
      "magic",
      \.magic,
      .text.nonEmpty,
      "First bytes of a body, as text or in hexadecimal digits"
    )
  }
  .checking { expectation, facts, decoder in
    guard let minimum = expectation.minimumSize, let maximum = expectation.maximumSize,
      minimum > maximum
    else { return }
    decoder.report(
      "config.bad-value",
      "`min_size` is above `max_size`",
      at: facts.place(of: "min_size")
    )
  }
}

/// A folder in which a segment's items appear under names that other tools look for.
package struct Publication: Hashable, Sendable {
  package enum Layout: String, Hashable, Sendable, CaseIterable {
    case url
    case basename
    case npm
    case pip
    case go
    case bazel
    case hls
  }

  package enum Link: String, Hashable, Sendable, CaseIterable {
    case auto
    case reflink
    case hardlink
    case copy
  }

  package var folder: String?
  package var layout = Layout.url
  package var link = Link.auto
  package var isAtomic = false
  package var keptGenerations = 1

  static let table = ObjectType(Self(), name: "publish") {
    Field("dir", \.folder, .path, "The folder")
    Field("layout", \.layout, .choice(), "How names in it are made")
    Field("link", \.link, .choice(), "How bodies get there")
    Field(
      "atomic",
      \.isAtomic,
      .boolean,
      "Whether the whole tree changes in one moment, or not at all"
    )
    Field("keep_generations", \.keptGenerations, .integer(1...1000), "How many past trees are kept")
  }
  .checking { _, facts, decoder in
    guard !facts.has("dir") else { return }
    decoder.report("config.missing-key", "`publish` has no `dir`", at: facts.node)
  }
}

/// Where things are in a JSON document of another make.
package struct JSONPointers: Hashable, Sendable {
  package var items: String?
  package var url: [String] = []
  package var sha256: String?
  package var size: String?

  static let table = ObjectType(Self(), name: "json") {
    Field("items", \.items, .jsonPointer, "Pointer to the items; it may end in `/*`")
    Field("url", \.url, .oneOrMore(.jsonPointer), "Pointers from an item to its URLs")
    Field("sha256", \.sha256, .jsonPointer, "Pointer from an item to its SHA-256")
    Field("size", \.size, .jsonPointer, "Pointer from an item to its size")
  }
}

/// The server that a lock file's packages are fetched from.
package struct RegistryAddress: Hashable, Sendable {
  package var url: WebURL?

  static let npm = ObjectType(Self(), name: "npm") {
    Field("registry", \.url, .url, "Registry that stands for registry.npmjs.org")
  }

  static let pip = ObjectType(Self(), name: "pip") {
    Field("index", \.url, .url, "Index in which files are looked up")
  }

  static let go = ObjectType(Self(), name: "go") {
    Field("proxy", \.url, .url, "Module proxy to fetch from")
  }
}

/// Where crates are fetched from.
package struct CrateAddress: Hashable, Sendable {
  /// A URL in which `{crate}` and `{version}` stand for what they say.
  package var download: String?

  static let table = ObjectType(Self(), name: "cargo") {
    Field(
      "download",
      \.download,
      .text.nonEmpty,
      "URL of a crate, with `{crate}` and `{version}` in it"
    )
  }
}

/// Settings of ad tags.
package struct AdTags: Hashable, Sendable {
  package var fetchesExtensions = false
  package var zone: String?

  static let table = ObjectType(Self(), name: "vast") {
    Field("extensions", \.fetchesExtensions, .boolean, "Whether pictures in extensions are fetched")
    Field("zone", \.zone, .text.nonEmpty, "Name of the ad space, by which its ad is kept")
  }
}

extension ValueType where Value == String {
  /// A minisign public key: base64 of `Ed`, a key number and 32 bytes.
  static var publicKey: Self {
    scalar("a minisign public key", summary: "public key", code: "config.bad-key") {
      text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard let bytes = Base64.decode(trimmed), bytes.count == 42, bytes.starts(with: "Ed".utf8)
      else {
        throw ValueComplaint(
          "`\(trimmed)` is no minisign public key",
          hint: "take the second line of the `.pub` file, which begins with `RW`"
        )
      }
      return trimmed
    } encode: {
      .string($0)
    }
  }
}

extension ValueType where Value == Int64 {
  /// Bits a second; a bare number is one of those, as media playlists write it.
  static var bitRate: Self {
    scalar("a bit rate such as `2Mbps`", summary: "bit rate", schema: rate.schema) {
      text throws(ValueComplaint) in
      if let quantity = try? Quantity(text), quantity.unit.isEmpty,
        let bits = quantity.scaled(by: 1)
      {
        return bits
      }
      let (bits, overflow) = try Units.rate(text).multipliedReportingOverflow(by: 8)
      guard !overflow else { throw ValueComplaint("`\(text)` is too large") }
      return bits
    } encode: {
      .integer($0)
    }
  }

  private var schema: [(String, JSONValue)] {
    guard case .scalar(let shape) = shape else { return [] }
    return shape.schema
  }
}
