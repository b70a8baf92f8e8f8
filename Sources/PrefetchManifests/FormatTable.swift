internal import PrefetchCore

enum DocumentKind: Hashable, CaseIterable {
  case native, lockfile, json, packageLock, bunLock, packageIndex, bazelLock, moduleSource,
    containerImage
  case metalink, sitemap, rss, atom, vast, dash
  case list, checksums, goSum, pip, pylock, hls
  case cargoLock, uvLock, yarnLock, pnpmLock, debianRelease, debianPackages
  case signature
  case poetryLock, pdmLock, pipfileLock, pyproject, pixiLock, condaLock, gemfileLock, composerLock
  case releases, releaseChecksums, packageDates, hub
  case nugetLock, terraformLock, flakeLock, denoLock, goMod, packageManifest
}

extension DocumentKind {
  /// Whether a registry or forge publishes what such a document lists.
  var isOfRegistry: Bool {
    switch self {
    case .packageLock, .packageIndex, .bazelLock, .goSum, .pip, .pylock, .cargoLock, .uvLock,
      .yarnLock, .pnpmLock, .releases:
      true
    default: false
    }
  }
}

/// How documents of one kind are declared, named, recognized and read.
struct FormatRow: Sendable {
  enum Syntax: String, Sendable {
    case json = "JSON"
    case xml = "XML"
    case text
  }

  var kind: DocumentKind
  /// Name of the kind for messages, after "says" or "it is".
  var words: String
  var syntax: Syntax
  var formats: [ManifestFormat] = []
  var types: [String] = []
  /// Lower-case file names; one star stands for any characters.
  var names: [String] = []
  var roots: [String] = []
  /// Sets of top-level JSON keys that no other kind has together; one complete set is enough.
  var keys: [Set<String>] = []
  /// Top-level JSON keys that decide after the whole object was read and no row's `keys` matched.
  var lastKeys: Set<String>?
  /// Whether a document may also be an array of such objects.
  var mayBeArray = false
  /// Beginnings of lines that no other kind of text has.
  var beginnings: [String] = []
  var advice: String?
  var read: (@Sendable (RawSpan, ManifestSource) throws(Failure) -> Manifest)?

  /// Whether the file name alone decides, since no reader accepts the kind.
  var isForeign: Bool { FormatTable.foreignRows.contains { $0.kind == kind } }
}

/// Table with one row per kind of document; detection, reading and messages use it.
enum FormatTable {
  static func row(_ kind: DocumentKind) -> FormatRow? {
    rows.first { $0.kind == kind }
  }

  static func row(declared format: ManifestFormat) -> FormatRow? {
    rows.first { $0.formats.contains(format) }
  }

  static func row(root: String) -> FormatRow? {
    rows.first { $0.roots.contains(root) }
  }

  static func kind(keys seen: Set<String>) -> DocumentKind? {
    keys.first { $0.keys.isSubset(of: seen) }?.kind
  }

  static func kind(lastKeys seen: Set<String>) -> DocumentKind? {
    rows.first { $0.lastKeys?.isSubset(of: seen) == true }?.kind
  }

  static func kind(line: String) -> DocumentKind? {
    beginnings.first { line.hasPrefix($0.text) }?.kind
  }

  private static let keys = rows.flatMap { row in
    row.keys.map { (keys: $0, kind: row.kind) }
  }
  private static let beginnings = rows.flatMap { row in
    row.beginnings.map { (text: $0, kind: row.kind) }
  }

  static func row(type: String) -> FormatRow? {
    let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    return rows.first { $0.types.contains(name) }
  }

  static func row(name: String) -> FormatRow? {
    let name = name.lowercased()
    return rows.first { row in row.names.contains { matches(name, $0) } }
  }

  /// Returns the last component of the path without query and without the ending `.gz`.
  static func fileName(of source: ManifestSource) -> String {
    let path = source.name.prefix { $0 != "?" && $0 != "#" }
    let last = path.split(separator: "/").last ?? ""
    return String(last.lowercased().hasSuffix(".gz") ? last.dropLast(3) : last)
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    guard let star = pattern.firstIndex(of: "*") else { return name == pattern }
    let (head, tail) = (pattern[..<star], pattern[pattern.index(after: star)...])
    return name.utf8.count >= head.utf8.count + tail.utf8.count && name.hasPrefix(head)
      && name.hasSuffix(tail)
  }

  private static let instead = "list its files in a manifest or a list of URLs"

  static let rows = ownRows + foreignRows

  private static let ownRows = [
    FormatRow(
      kind: .native,
      words: "a prefetch manifest",
      syntax: .json,
      formats: [.native, .ndjson],
      types: [
        "application/vnd.prefetch.manifest+json", "application/x-ndjson", "application/jsonl",
        "application/x-jsonlines",
      ],
      names: ["*.ndjson", "*.jsonl"],
      read: NativeManifest.read
    ),
    FormatRow(
      kind: .lockfile,
      words: "a lock file of prefetch",
      syntax: .json,
      formats: [.lockfile],
      names: [Lockfile.name],
      read: LockfileText.read
    ),
    FormatRow(
      kind: .bunLock,
      words: "a bun.lock",
      syntax: .json,
      names: ["bun.lock"],
      keys: [["lockfileVersion", "workspaces"]],
      advice: "write a yarn.lock with `bun install --yarn`, and name that"
    ),
    FormatRow(
      kind: .packageLock,
      words: "an npm lockfile",
      syntax: .json,
      formats: [.packageLock],
      names: ["package-lock.json", "npm-shrinkwrap.json"],
      // Bun's lock file also has `lockfileVersion`, before its own keys.
      keys: [["lockfileVersion", "packages"], ["lockfileVersion", "dependencies"]],
      lastKeys: ["lockfileVersion"],
      read: PackageLock.read
    ),
    FormatRow(
      kind: .packageIndex,
      words: "a page of a Python package index",
      syntax: .json,
      types: ["application/vnd.pypi.simple.v1+json"],
      keys: [["meta", "files", "name"]],
      read: PackageIndex.read
    ),
    FormatRow(
      kind: .bazelLock,
      words: "a Bazel lockfile",
      syntax: .json,
      formats: [.bazelLock],
      names: ["module.bazel.lock"],
      keys: [["lockFileVersion", "registryFileHashes"]],
      read: BazelLock.read
    ),
    FormatRow(
      kind: .moduleSource,
      words: "what a Bazel registry says of a module",
      syntax: .json,
      read: ModuleSource.read
    ),
    FormatRow(
      kind: .containerImage,
      words: "the manifest of a container image",
      syntax: .json,
      types: [
        "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
      ],
      keys: [["schemaVersion", "layers"], ["schemaVersion", "manifests"]],
      advice: "copy images with a tool for registries, such as skopeo"
    ),
    FormatRow(
      kind: .releases,
      words: "the releases of a forge",
      syntax: .json,
      formats: [.releases],
      keys: [["tag_name", "assets"]],
      mayBeArray: true,
      read: ReleaseList.read
    ),
    FormatRow(
      kind: .releaseChecksums,
      words: "the checksums of a release",
      syntax: .text,
      read: ReleaseChecksumList.read
    ),
    FormatRow(
      kind: .packageDates,
      words: "a package's document of an npm registry",
      syntax: .json,
      read: PackageDocument.read
    ),
    FormatRow(
      kind: .hub,
      words: "a repository of a hub",
      syntax: .json,
      formats: [.hf],
      keys: [["sha", "siblings"]],
      read: HubList.read
    ),
    FormatRow(
      kind: .json,
      words: "JSON of another make",
      syntax: .json,
      formats: [.json],
      read: GenericJSON.read
    ),
    FormatRow(
      kind: .metalink,
      words: "a Metalink",
      syntax: .xml,
      formats: [.metalink],
      types: ["application/metalink4+xml", "application/metalink+xml"],
      names: ["*.meta4", "*.metalink"],
      roots: ["metalink"],
      read: Metalink.read
    ),
    FormatRow(
      kind: .sitemap,
      words: "a sitemap",
      syntax: .xml,
      formats: [.sitemap],
      names: ["sitemap*.xml"],
      roots: ["urlset", "sitemapindex"],
      read: Sitemap.read
    ),
    FormatRow(
      kind: .rss,
      words: "an RSS feed",
      syntax: .xml,
      formats: [.rss],
      types: ["application/rss+xml"],
      names: ["*.rss"],
      roots: ["rss"],
      read: Feed.read
    ),
    FormatRow(
      kind: .atom,
      words: "an Atom feed",
      syntax: .xml,
      formats: [.atom],
      types: ["application/atom+xml"],
      names: ["*.atom"],
      roots: ["feed"],
      read: Feed.read
    ),
    FormatRow(
      kind: .vast,
      words: "a VAST ad tag",
      syntax: .xml,
      formats: [.vast],
      roots: ["VAST"],
      advice: "`format: vast` keeps the ad behind it"
    ),
    FormatRow(
      kind: .dash,
      words: "an MPEG-DASH manifest",
      syntax: .xml,
      types: ["application/dash+xml"],
      names: ["*.mpd"],
      roots: ["MPD"],
      advice: instead
    ),
    FormatRow(
      kind: .hls,
      words: "an HLS playlist",
      syntax: .text,
      formats: [.hls],
      types: [
        "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl",
        "audio/x-mpegurl",
      ],
      names: ["*.m3u8"],
      beginnings: ["#EXTM3U"],
      advice: instead
    ),
    FormatRow(
      kind: .checksums,
      words: "a list of checksums",
      syntax: .text,
      formats: [.checksums],
      names: [
        "md5sums*", "sha1sums*", "sha224sums*", "sha256sums*", "sha384sums*", "sha512sums*",
        "b2sums*", "md5sum*", "sha1sum*", "sha256sum*", "sha512sum*", "sha256", "sha512",
        "checksum", "checksum.*", "checksums", "checksums.*", "*-checksum", "*-checksums",
        "*checksums.txt", "*.md5", "*.sha1", "*.sha256", "*.sha384", "*.sha512", "*.sha256sum",
        "*.sha512sum", "*.md5sum", "*.b2",
      ],
      read: ChecksumList.read
    ),
    FormatRow(
      kind: .pylock,
      words: "a pylock.toml",
      syntax: .text,
      formats: [.pylock],
      names: ["pylock.toml", "pylock.*.toml"],
      beginnings: ["lock-version =", "lock-version="],
      read: PythonLock.read
    ),
    FormatRow(
      kind: .pip,
      words: "requirements of pip",
      syntax: .text,
      formats: [.pip],
      names: ["requirements*.txt"],
      read: Requirements.read
    ),
    FormatRow(
      kind: .goSum,
      words: "a go.sum",
      syntax: .text,
      formats: [.goSum],
      names: ["go.sum", "go.work.sum"],
      read: GoSums.read
    ),
    FormatRow(
      kind: .cargoLock,
      words: "a Cargo.lock",
      syntax: .text,
      formats: [.cargoLock],
      names: ["cargo.lock"],
      // Both Cargo and uv begin with a comment and a version; only Cargo's comment names the tool.
      beginnings: ["# This file is automatically @generated by Cargo"],
      read: CargoLock.read
    ),
    FormatRow(
      kind: .uvLock,
      words: "a uv.lock",
      syntax: .text,
      formats: [.uvLock],
      names: ["uv.lock"],
      beginnings: ["requires-python ="],
      read: UVLock.read
    ),
    FormatRow(
      kind: .yarnLock,
      words: "a yarn.lock",
      syntax: .text,
      formats: [.yarnLock],
      names: ["yarn.lock"],
      beginnings: ["# yarn lockfile", "__metadata:"],
      read: YarnLock.read
    ),
    FormatRow(
      kind: .pnpmLock,
      words: "a pnpm-lock.yaml",
      syntax: .text,
      formats: [.pnpmLock],
      names: ["pnpm-lock.yaml"],
      beginnings: ["lockfileVersion:"],
      read: PnpmLock.read
    ),
    FormatRow(
      kind: .debianRelease,
      words: "a Release file of a Debian archive",
      syntax: .text,
      names: ["release", "inrelease"],
      beginnings: ["Origin: ", "Suite: ", "Codename: "],
      advice: "list the files in a manifest or a list of checksums"
    ),
    FormatRow(
      kind: .debianPackages,
      words: "a Packages file of a Debian archive",
      syntax: .text,
      names: ["packages"],
      beginnings: ["Package: "],
      advice: "list the packages in a manifest or a list of checksums"
    ),
    FormatRow(
      kind: .signature,
      words: "a detached signature",
      syntax: .text,
      types: ["application/pgp-signature"],
      names: ["*.sig", "*.asc", "*.sign", "*.minisig", "*.gpg"],
      beginnings: [
        "-----BEGIN PGP SIGNATURE-----", "untrusted comment: ", "-----BEGIN SSH SIGNATURE-----",
      ],
      advice: "name the list that it signs"
    ),
    FormatRow(
      kind: .list,
      words: "a list of URLs",
      syntax: .text,
      formats: [.list],
      types: ["text/uri-list"],
      names: ["*.urls", "*.lst"],
      read: { (bytes, source) throws(Failure) in try URLList.read(bytes, source: source) }
    ),
  ]
}
