import PrefetchCore
import PrefetchDocuments

extension ManifestRules.Pointers {
  static let table = ObjectType(Self(), name: "json") {
    Field("items", \.items, .jsonPointer).help("Pointer to the items; it may end in `/*`")
    Field("url", \.urls, .oneOrMore(.jsonPointer)).help("Pointers from an item to its URLs")
    Field("sha256", \.sha256, .jsonPointer).help("Pointer from an item to its SHA-256")
    Field("size", \.size, .jsonPointer).help("Pointer from an item to its size")
    Field("path", \.path, .jsonPointer)
      .help("Pointer from an item to its path in a tree, and to its URL if `url` is not set")
    Field("base", \.base, .url).help("Base URL of relative URLs and paths")
  }
}

extension VersionRules {
  static let table = ObjectType(Self(name: ""), name: "select") {
    Field("name", \.name, .namePattern)
      .help("Pattern of the names: `@v` is the version, `@*` any text that separates groups")
    Field("newest", \.newest, .integer(1...1_000_000))
      .help("Number of the newest versions to take of each group")
    Field("order", \.order, .choice()).help("How versions compare")
  }
  .requiring("name") { _ in "`select` has no `name`" }
}

extension ManifestRules {
  static let npm = ObjectType(Self(), name: "npm") {
    Field("registry", \.npmRegistry, .url)
      .help("Registry instead of registry.npmjs.org and registry.yarnpkg.com")
  }

  static let pip = ObjectType(Self(), name: "pip") {
    Field("index", \.pipIndex, .url).help("Package index to look up files in")
  }

  static let go = ObjectType(Self(), name: "go") {
    Field("proxy", \.goProxy, .url).help("Module proxy to fetch from")
  }

  static let cargo = ObjectType(Self(), name: "cargo") {
    Field("download", \.crateDownload, .text.nonEmpty)
      .help("URL of a crate, with `{crate}` and `{version}` in it")
    Field("index", \.crateIndex, .url)
      .help(
        "Sparse index to fetch too; the default is https://index.crates.io/ for layout `cargo`"
      )
  }
}

extension Segment {
  static let hubTable = ObjectType(Self(), name: "hf") {
    Field("endpoint", \.hubEndpoint, .url)
      .help("URL of the hub; the default is `HF_ENDPOINT`, or else https://huggingface.co")
  }

  static let adTable = ObjectType(Self(), name: "vast") {
    Field("extensions", \.declaration.bundleRules.includesExtensions, .boolean)
      .help("Whether pictures in extensions are fetched")
    Field("zone", \.adSpace, .adSpace).help("Name of the ad space that the ad belongs to")
  }
}

extension ValueType where Value == String {
  fileprivate static var adSpace: Self {
    scalar(
      "a name of an ad space",
      summary: "text",
      schema: .pattern("[A-Za-z0-9_-]+", nil, .integers(Int.min...Int.max)).acceptingBooleans,
      code: "config.wrong-value"
    ) { text throws(ValueComplaint) in
      guard !text.isEmpty else {
        throw ValueComplaint("the name of the ad space is empty", code: "config.bad-value")
      }
      guard text.utf8.allSatisfy(isNameByte) else {
        throw ValueComplaint(
          "`\(text)` cannot name the files of an ad: letters, digits, `-` and `_` can"
        )
      }
      return text
    } encode: {
      .string($0)
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_".utf8.contains(byte)
  }
}

extension ContentExpectation {
  static let table = ObjectType(Self(), name: "expect") {
    Field("mime", \.types, .oneOrMore(.mediaType))
      .help("Media types, `image/*` for all of a kind")
    Field("min_size", \.minimumSize, .size).help("Fewest bytes of a body")
    Field("max_size", \.maximumSize, .size).help("Most bytes of a body")
    Field("magic", \.magic, .text.nonEmpty)
      .help("First bytes of a body, as text or in hexadecimal digits")
  }
  .checking { expectation, facts, decoder in
    guard let minimum = expectation.minimumSize, let maximum = expectation.maximumSize,
      minimum > maximum
    else { return }
    decoder.report(
      "config.bad-value",
      "`min_size` is above `max_size`",
      at: facts.keyNode(of: "min_size")
    )
  }

  private var magic: String? {
    get { beginnings.first.map { String(decoding: $0, as: UTF8.self) } }
    set { beginnings = newValue.map(Self.beginnings) ?? [] }
  }
}

extension PublishingRules {
  static let table = ObjectType(Self(folder: ""), name: "publish") {
    Field("dir", \.folder, .path).help("Folder of the tree")
    Field("layout", \.layout, .choice()).help("How names in the tree are made")
    Field("link", \.link, .choice()).help("How bodies get into the tree")
    Field("atomic", \.isAtomic, .boolean)
      .help("Whether one rename switches the whole tree")
    Field("keep_generations", \.keptGenerations, .integer(1...1000))
      .help("Number of past trees to keep")
    Field("times", \.times, .choice())
      .help("Times of the files: `server` uses `Last-Modified`")
    Field("mode", \.mode, .fileMode).help("Mode of the files in octal digits, such as `0644`")
    Field("adopt", \.adopts, .boolean)
      .help(
        "Whether the tree takes over files that are already there and equal the items; not for atomic trees"
      )
  }
  .checking { rules, facts, decoder in
    if !facts.has("dir"), rules.layout != .hf {
      decoder.report(
        "config.missing-key",
        "`publish` has no `dir`",
        hint: "name the folder of the tree; only `layout: hf` has one by default",
        at: facts.node
      )
    }
    if rules.layout == .hf, rules.isAtomic {
      decoder.report(
        "config.conflict",
        "`layout: hf` switches by a file of its own, so that `atomic` is not for it",
        hint: "leave `atomic` out",
        at: facts.keyNode(of: "atomic")
      )
    }
    if rules.needsOwnFiles, rules.link == .hardlink {
      decoder.report(
        "config.conflict",
        "`link: hardlink` makes files that are stored bodies, whose times and modes stay",
        hint: "`link: auto` clones or copies where `times` or `mode` is set",
        at: facts.keyNode(of: "link")
      )
    }
  }
}
