package import PrefetchCore
import PrefetchDocuments

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
    Field(
      "registry",
      \.url,
      .url,
      "Registry that stands for registry.npmjs.org and registry.yarnpkg.com"
    )
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
  /// A sparse index, whose files come along.
  package var index: WebURL?

  static let table = ObjectType(Self(), name: "cargo") {
    Field(
      "download",
      \.download,
      .text.nonEmpty,
      "URL of a crate, with `{crate}` and `{version}` in it"
    )
    Field(
      "index",
      \.index,
      .url,
      "Sparse index whose files come along; https://index.crates.io/ where the layout is `cargo`"
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
  .checking { tags, facts, decoder in
    guard let zone = tags.zone, !zone.utf8.allSatisfy(isPlain) else {
      return
    }
    decoder.report(
      "config.wrong-value",
      "`\(zone)` cannot name the files of an ad: letters, digits, `-` and `_` can",
      at: facts.place(of: "zone")
    )
  }

  private static let isPlain: @Sendable (UInt8) -> Bool = { byte in
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      || [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
  }
}
