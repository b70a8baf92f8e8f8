import PrefetchCore

struct ManifestBuildOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var folder = ""
  var base: WebURL?
  var output: String?
  var hasLines = false
  var segment: String?
  var priority: Int?
  var generated: Instant?
  var expires: Duration?
  var included: [String] = []
  var excluded: [String] = []
  var includesHidden = false
  var statesTypes = false
  var previous: String?

  static let command = CommandSpec<ManifestBuildOptions>(
    name: "manifest build",
    group: .publisher,
    summary: "Write a manifest of the files in a folder",
    paragraphs: [
      "Lists every file below DIR with its URL below `--base-url`, its size, time and SHA-256. The same files give the same bytes if `--generated` or `SOURCE_DATE_EPOCH` fixes the time.",
      "Names that begin with a dot are left out unless `--hidden` is given, and so is the manifest itself. A link to a file in DIR counts as that file. Other links and special files are left out with a warning. If a file cannot be read, changes meanwhile, or has a name that is not UTF-8, the command ends with 74 and writes nothing.",
      "With `--previous` the command reads only files whose size or time differs from that earlier manifest, or whose time is within two seconds of its making. A pattern (`*`, `?`, `[a-z]`) without a slash is compared with names, one with a slash with paths below DIR, where `*` also matches slashes. `--exclude` wins, and leaves out a folder with everything in it.",
    ],
    options: [
      .value("base-url", \.base, .baseURL).help("URL below which readers find the files"),
      .value("output", short: "o", \.output, .file.called("PATH"))
        .help("Write the manifest to this file, whole or not at all, instead of standard output"),
      .flag("ndjson", \.hasLines)
        .help("Write one item a line, for manifests of more than a million items"),
      .value("segment", \.segment, .text.called("SEGMENT").completed(by: .segments))
        .help("Segment that the manifest is for; readers refuse it for any other"),
      .value("priority", \.priority, .number(1...100))
        .help("Priority of the segment, 1 first"),
      .value("generated", \.generated, .instant).help("State this time of making instead of now"),
      .value("expires", \.expires, .duration)
        .help("State that the manifest is valid for this long from the time of making"),
      .values("include", \.included, .text.called("PATTERN"))
        .help("Take only files that match this, or another `--include`"),
      .values("exclude", \.excluded, .text.called("PATTERN"))
        .help("Leave out files and folders that match this"),
      .flag("hidden", \.includesHidden).help("Take files and folders whose names begin with a dot"),
      .flag("mime", \.statesTypes)
        .help(
          "State media types by file name extensions; readers refuse a file that its server labels otherwise"
        ),
      .value("previous", \.previous, .file)
        .help("Take over the digests of unchanged files from this earlier manifest"),
    ],
    operands: .one("DIR", \.folder, .directory),
    exits: [.ok, .usage, .io],
    examples: [
      "prefetch manifest build public --base-url https://cdn.example.org/app/ --expires 2d -o public/manifest.json":
        "Describe what a web server offers, for readers that want it signed",
      "prefetch manifest build isos --base-url https://dl.example.org/isos/ --previous isos/manifest.json -o isos/manifest.json":
        "The same each night, hashing only what changed",
    ],
    refusesJSON: true,
    validate: { options in
      guard options.base == nil else { return [] }
      return [
        Diagnostic(
          "usage.missing-option",
          "`manifest build` needs `--base-url URL`, below which readers find the files"
        )
      ]
    },
    makeCommand: { ManifestBuild(context: $0, options: $1) }
  )
}

struct ManifestCheckOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Manifest to check: a path or a URL; `-` is standard input.
  var manifest = ""
  var base: WebURL?
  var keys: [String] = []

  static let command = CommandSpec<ManifestCheckOptions>(
    name: "manifest check",
    group: .publisher,
    summary: "Describe a manifest, and list its faults",
    paragraphs: [
      "Reads a manifest of any format (a file, a URL, or `-` for standard input) as a run would, prints its format and items, and reports each entry that breaks a rule with line and column. A URL is fetched under the configuration's rules and not kept.",
      "`--key` demands a signature of that key in FILE`.minisig`, else the command ends with 5. Relative entries are read as if the manifest were at `--base-url`.",
    ],
    options: [
      .value("base-url", \.base, .baseURL)
        .help("URL at which a manifest from a file is published"),
      .values("key", \.keys, .file.called("KEY"))
        .help("Trust this public key, given as `RW…` or as the file that holds it"),
    ],
    operands: .one("FILE|URL", \.manifest, .file),
    exits: [.ok, .usage, .nothing, .trust, .unavailable, .io, .config],
    examples: [
      "prefetch manifest check public/manifest.json --key minisign.pub":
        "Check a manifest and its signature before you publish them",
      "prefetch manifest check package-lock.json":
        "See how many items a list of another program has",
    ],
    refusesJSON: true,
    validate: { options in
      guard options.manifest == "-", !options.keys.isEmpty else { return [] }
      return [
        Diagnostic(
          "usage.conflict",
          "`--key` asks for the signature beside the manifest, and standard input has no file beside it",
          hint: "name the manifest's file or URL"
        )
      ]
    },
    makeCommand: { ManifestCheck(context: $0, options: $1) }
  )
}

struct ManifestSignOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var manifest = ""
  /// At most one key; the option's shape is shared with `manifest check`.
  var keys: [String] = []
  var passwordFile: String?
  var generated: Instant?
  var expires: Duration?
  var comment: String?

  static let command = CommandSpec<ManifestSignOptions>(
    name: "manifest sign",
    group: .publisher,
    summary: "Sign a manifest so that readers can verify its publisher",
    paragraphs: [
      "Writes FILE`.minisig` beside the manifest, in the format of minisign(1), which makes the key (`minisign -G`). The trusted comment has the file name, the time of signing, and with `--expires` the time after which readers with `manifest_keys` refuse the manifest.",
      "Readers demand an expiry, so that no server can offer an old manifest for ever. A native manifest has its own (`manifest build --expires`); sign all other formats with `--expires`.",
      "The password of an encrypted key comes from `--password-file`, else from a prompt on the terminal.",
    ],
    options: [
      .values("key", \.keys, .file.called("KEY")).help("Sign with the secret key in this file"),
      .value("password-file", \.passwordFile, .file)
        .help("Read the key's password from the first line of this file; `-` is standard input"),
      .value("generated", \.generated, .instant).help("State this time of signing instead of now"),
      .value("expires", \.expires, .duration)
        .help("State that the manifest is valid for this long from the time of making"),
      .value("comment", \.comment, .line.called("TEXT"))
        .help("Write this into the untrusted comment, which is not signed"),
    ],
    operands: .one("FILE", \.manifest, .file),
    exits: [.ok, .failed, .usage, .io, .config],
    examples: [
      "prefetch manifest sign public/manifest.json --key minisign.key":
        "Sign a manifest before it is published",
      "prefetch manifest sign isos/SHA256SUMS --key minisign.key --expires 7d":
        "Sign a checksum list, which says neither its date nor its end",
    ],
    refusesJSON: true,
    validate: { options in
      var diagnostics: [Diagnostic] = []
      if options.keys.count != 1 {
        diagnostics.append(
          "usage.missing-option",
          "`manifest sign` needs one `--key KEY`, the file of a secret key"
        )
      }
      if options.manifest == "-" {
        diagnostics.append(
          "usage.bad-operand",
          "`manifest sign` writes the signature beside a file, so it cannot sign standard input"
        )
      }
      return diagnostics
    },
    makeCommand: { ManifestSign(context: $0, options: $1) }
  )
}

extension ValueKind where Value == DeclaredURL {
  static var url: Self {
    Self(expectation: "a URL such as `https://example.org/film.mp4`", placeholder: "URL") {
      try? DeclaredURL($0)
    }
  }
}

extension ValueKind where Value == WebURL {
  /// Adds a slash at the end, without which the last part would be replaced.
  static var baseURL: Self {
    Self(
      expectation: "a URL such as `https://cdn.example.org/app/`, without query or fragment",
      placeholder: "URL"
    ) { text in
      guard let url = try? WebURL(text), url.query == nil, !text.contains("#") else { return nil }
      return url.path.hasSuffix("/") ? url : try? WebURL("\(url.string)/")
    }
  }
}

extension ValueKind where Value == Instant {
  fileprivate static var instant: Self {
    Self(
      expectation: "a time such as `2026-11-20T05:00:00Z`, or seconds since 1970",
      placeholder: "TIME"
    ) { text in
      if let seconds = Int64(text), (0..<253_402_300_800).contains(seconds) {
        return Instant(seconds: seconds)
      }
      return Timestamp.parse(text)
    }
  }
}

extension ValueKind where Value == String {
  fileprivate static var line: Self {
    Self(expectation: "one line of text") { text in
      text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? text : nil
    }
  }
}
