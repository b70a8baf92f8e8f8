import PrefetchCore

struct GetOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Requested URLs, ids or `PROVIDER/ID`; a lone `-` is a manifest on standard input.
  var items: [String] = []
  var provider: String?
  var ids: [String] = []
  var type: String?
  /// Parts of the items to fetch; nil for all.
  var behavior: ItemBehavior?
  var quality: StreamQuality?
  var isOffline = false
  var revalidates = false
  var maximumAge: Duration?
  /// Longest staleness; bare sets no limit.
  var maximumStaleness: OptionalArgument<Duration>?
  /// Destination: a file, or a folder if it ends in a slash or exists; `-` is standard output.
  var output: String?
  var printsPaths = false
  var base: WebURL?
  var digest: ContentDigest?

  var usesCacheOnly: Bool {
    isOffline || behavior == ItemBehavior.none
  }

  var outputPath: String? {
    output == "-" ? nil : output
  }

  var readsManifest: Bool {
    items == ["-"]
  }

  static let command = CommandSpec<GetOptions>(
    name: "get",
    group: .everyday,
    summary: "Print or copy items, and fetch those that the cache lacks",
    paragraphs: [
      "Name an item by its URL, which may end with a digest of the body (`#sha256=…`), by its id or by `PROVIDER/ID`; `-` reads a manifest of any format from standard input. The item is fetched as the configuration, if any, declares it, and kept. An unknown id is looked up in the lists of the segments. Two kinds of items are delivered but not kept: `no-store` answers that no segment holds, and items that only segments with `store: false` or `head: true` declare.",
      "A lost or damaged body is fetched again; with `--offline` it ends the command with 74. A 404 or 410 is remembered for `cache.negative_ttl`, unless `--revalidate` is given. An older copy under `max_stale`, `--max-stale` or `--offline` comes with a warning.",
      "One body goes to standard output or to the file of `--output`; several need a folder there, or `--path`. A terminal gets a binary body only with `-o -`, and `--json` needs `--output` (else 64). In a folder a body has the name that the manifest gives it, else the last part of its URL. Files of these names are replaced unless they hold the same bytes. Nothing is written outside the folder, and no link in it is followed.",
      "Relative names in a manifest on standard input need `--base-url`. Further documents of a manifest, such as those of a sitemap index, are not fetched: the command ends with 3. A manifest without items ends with 4.",
    ],
    forms: ["ITEM…", "--provider P --id ID…", "-"],
    options: [
      .value("provider", \.provider, .text.called("P"))
        .help("Provider of the items named by `--id`"),
      .values("id", \.ids, .text.called("ID")).help("Id of an item of the provider"),
      .value("type", \.type, .text.called("TYPE"))
        .help("Type of the items if nothing declares it, such as `video`"),
      .value("behavior", \.behavior, .word.called("WHAT"))
        .help(
          "Deliver items and store their thumbnails (`all`), deliver thumbnails instead (`thumbnails`), or only stored bodies (`none`)"
        ),
      .value("quality", \.quality, .word.called("Q"))
        .help(
          "Quality of streams, instead of the configured one: `low`, `medium`, `high`, or `auto` by the speed of past downloads"
        ),
      .flag("offline", \.isOffline).help("Ask no server; an item that is not cached ends with 4"),
      .flag("revalidate", \.revalidates)
        .help("Ask conditionally, even if the cached copy is fresh"),
      .value("max-age", \.maximumAge, .duration)
        .help("Treat a cached copy as fresh only if it is at most this old"),
      .optionalValue("max-stale", \.maximumStaleness, .duration)
        .help("Use a cached copy that expired at most this long ago, or at any time"),
      .value("output", short: "o", \.output, .file.called("PATH"))
        .help(
          "Write the body to this file (`-` is standard output, even a terminal), or the bodies into this folder (`DIR/`)"
        ),
      .value("base-url", \.base, .baseURL)
        .help("Base URL for relative names in a manifest on standard input"),
      .value("sha256", \.digest, .digest)
        .help("Accept the item only with this SHA-256, as a list would declare it"),
      .flag("path", \.printsPaths).help("Print the local paths instead of the bodies"),
    ],
    operands: .any("ITEM", \.items, completion: .items),
    exits: [
      .ok, .incomplete, .nothing, .trust, .unavailable, .deferred, .denied, .config, .interrupted,
      .terminated,
    ],
    examples: [
      "prefetch get https://example.org/data.json | jq .": "Use a cached file in a pipeline",
      "prefetch get --path - <manifest.json":
        "Fetch the items of a manifest and print where the bodies are",
      "prefetch get - --base-url https://example.org/iso/ -o isos/ <SHA256SUMS":
        "Fetch and verify the files of a checksum list",
    ],
    validate: { $0.conflicts() },
    makeCommand: { GetCommand(context: $0, options: $1) }
  )

  private func conflicts() -> [Diagnostic] {
    var diagnostics: [Diagnostic] = []
    if items.isEmpty, ids.isEmpty, provider == nil {
      diagnostics.append(
        "usage.missing-operand",
        "`get` needs at least one ITEM, `--provider P --id ID`, or `-`"
      )
    }
    if items.contains("-"), items.count + ids.count > 1 {
      diagnostics.append(
        "usage.conflict",
        "`-` reads every item from standard input, so name no others"
      )
    }
    if provider == nil, !ids.isEmpty {
      diagnostics.append("usage.missing-option", "`--id` needs `--provider P`")
    }
    if provider != nil, ids.isEmpty {
      diagnostics.append("usage.missing-option", "`--provider` needs at least one `--id ID`")
    }
    if base != nil, !readsManifest {
      diagnostics.append("usage.conflict", "`--base-url` is for the names that `get -` reads")
    }
    if behavior == ItemBehavior.none, revalidates {
      diagnostics.append(.exclusive("--behavior none", "--revalidate"))
    }
    if behavior == .thumbnails, readsManifest {
      diagnostics.append(.exclusive("--behavior thumbnails", "-"))
    }
    if digest != nil, readsManifest || items.count + ids.count != 1 {
      diagnostics.append(
        "usage.conflict",
        "`--sha256` is what one body must be, so name one item with it",
        hint: "each URL may end with a digest of its own: `#sha256=HEX`"
      )
    }
    if isOffline, revalidates { diagnostics.append(.exclusive("--offline", "--revalidate")) }
    if output != nil, printsPaths { diagnostics.append(.exclusive("--output", "--path")) }
    if shared.isJSON, outputPath == nil {
      diagnostics.append(
        "usage.missing-option",
        "`get --json` needs `--output PATH`, since standard output holds the document"
      )
    } else if items.count + ids.count > 1, outputPath == nil, !printsPaths {
      diagnostics.append(
        "usage.missing-option",
        "several items need `--output DIR/` or `--path`, since standard output holds one body"
      )
    }
    return diagnostics
  }
}

extension ValueKind where Value == ContentDigest {
  fileprivate static var digest: Self {
    Self(expectation: "a SHA-256, which has 64 hexadecimal digits", placeholder: "HEX") {
      ContentDigest($0)
    }
  }
}

enum StreamQuality: String, Hashable, Sendable, CaseIterable {
  case auto
  case low
  case medium
  case high

  /// Configured quality; nil for `auto`, which goes by the last downloads.
  var fixed: BundleRules.Quality? { BundleRules.Quality(rawValue: rawValue) }
}
