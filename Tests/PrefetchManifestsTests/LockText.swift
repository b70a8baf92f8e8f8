import PrefetchCore

@testable import PrefetchManifests

/// Readers of other tools' files, each tested separately.
enum LockReader: String, CaseIterable, Sendable {
  case json
  case packageLock
  case pythonLock
  case requirements
  case packageIndex
  case goSums
  case cargoLock
  case uvLock
  case yarnLock
  case pnpmLock
  case bazelLock
  case moduleSource

  func read(
    _ text: String,
    rules: ManifestRules = ManifestRules(),
    base: String? = "https://cdn.example/app/list",
    documentRole: FurtherDocument.Role? = nil
  ) -> Result<Manifest, Failure> {
    read(Array(text.utf8), rules: rules, base: base, documentRole: documentRole)
  }

  func read(
    _ bytes: [UInt8],
    rules: ManifestRules = ManifestRules(),
    base: String? = "https://cdn.example/app/list",
    documentRole: FurtherDocument.Role? = nil
  ) -> Result<Manifest, Failure> {
    var source = ManifestSource(
      bytes: .file("manifest"),
      base: base.flatMap { try? WebURL($0) },
      mime: nil,
      name: "manifest",
      rules: rules
    )
    source.documentRole = documentRole
    do throws(Failure) {
      return .success(try read(unsafe bytes.span.bytes, source))
    } catch {
      return .failure(error)
    }
  }

  private func read(_ bytes: RawSpan, _ source: ManifestSource) throws(Failure) -> Manifest {
    switch self {
    case .json: try GenericJSON.read(bytes, source: source)
    case .packageLock: try PackageLock.read(bytes, source: source)
    case .pythonLock: try PythonLock.read(bytes, source: source)
    case .requirements: try Requirements.read(bytes, source: source)
    case .packageIndex: try PackageIndex.read(bytes, source: source)
    case .goSums: try GoSums.read(bytes, source: source)
    case .cargoLock: try CargoLock.read(bytes, source: source)
    case .uvLock: try UVLock.read(bytes, source: source)
    case .yarnLock: try YarnLock.read(bytes, source: source)
    case .pnpmLock: try PnpmLock.read(bytes, source: source)
    case .bazelLock: try BazelLock.read(bytes, source: source)
    case .moduleSource: try ModuleSource.read(bytes, source: source)
    }
  }

  /// Texts to damage, by reader.
  static let seeds: [LockReader: [String]] = [
    .cargoLock: [
      """
      version = 4
      [[package]]
      name = "left"
      version = "1.0.0"
      source = "registry+https://github.com/rust-lang/crates.io-index"
      checksum = "\(sha256)"
      [metadata]
      "checksum a 1 (x)" = "\(sha256)"
      """
    ],
    .json: [
      #"[{"url": "/a.js", "revision": null, "integrity": "sha256-\#(base64)"}, "b.js"]"#,
      #"{"main.js": {"file": "a.js", "css": ["b.css"], "imports": ["c"]}}"#,
      #"{"files": {"main.js": "/static/a.js"}}"#,
    ],
    .uvLock: [
      """
      version = 1
      requires-python = ">=3.8"
      [[package]]
      name = "left"
      version = "1.0"
      source = { registry = "https://pypi.org/simple" }
      resolution-markers = ["python_full_version >= '3.9'", "sys_platform == 'linux'"]
      sdist = { url = "https://f.example/left-1.0.tar.gz", hash = "sha256:\(sha256)", size = 1_2 }
      wheels = [
          { url = "https://f.example/left-1.0-py3-none-any.whl", hash = "sha256:\(sha256)" },
      ]
      [[package]]
      name = "mine"
      source = { editable = "." }
      [[package]]
      name = "right"
      source = { url = "https://f.example/right-1.0.zip" }
      sdist = { hash = "sha256:\(sha256)" }
      """
    ],
    .yarnLock: [
      """
      # yarn lockfile v1


      "@s/left@^1.0.0", "@s/left@~1.0.2":
        version "1.0.2"
        resolved "https://registry.yarnpkg.com/@s/left/-/left-1.0.2.tgz#\(sha1)"
        integrity sha256-\(base64)
        dependencies:
          right "^1.0.0 || ^2.0.0"

      right@^1.0.0:
        version "1.0.0"
        resolved "https://registry.yarnpkg.com/right/-/right-1.0.0.tgz#\(sha1)"
      """
    ],
    .pnpmLock: [
      """
      lockfileVersion: '9.0'
      packages:
        '@s/left@1.0.2':
          resolution: {integrity: sha256-\(base64)}
          engines: {node: '>=8'}
          os: [darwin, '!win32']
          cpu: x64
        right@https://c.example/right/tar.gz/0123:
          resolution: {tarball: https://c.example/right/tar.gz/0123, gitHosted: true}
          version: 1.0.0
      snapshots:
        '@s/left@1.0.2(peer@1.0.0)':
          optional: true
      """,
      """
      lockfileVersion: 5.4
      packages:
        /@s/left/1.0.2_peer@1.0.0:
          resolution: {integrity: sha256-\(base64)}
          dev: true
        g.example/right/0123:
          resolution: {commit: '0123', repo: https://g.example/right.git, type: git}
      """,
    ],
    .bazelLock: [
      """
      {"lockFileVersion": 13, "registryFileHashes": {
        "https://r.example/a": "\(sha256)", "https://r.example/b": null,
        "https://r.example/modules/left/1.0/source.json": "\(sha256)",
        "file:///srv/registry/x": "\(sha256)"}}
      """
    ],
    .moduleSource: [
      """
      {"url": "https://a.example/left-1.0.tar.gz", "integrity": "sha256-\(base64)",
       "mirror_urls": ["https://b.example/left-1.0.tar.gz", 1], "strip_prefix": "left",
       "patches": {"a b.patch": "sha256-\(base64)"}, "overlay": {"d/BUILD": "sha256-\(base64)"}}
      """
    ],
    .packageLock: [
      """
      {"lockfileVersion": 3, "packages": {"": {}, "node_modules/@s/left": {"version": "1.0.2",
      "resolved": "https://registry.npmjs.org/left/-/left-1.0.2.tgz", "dev": true,
      "integrity": "sha256-\(base64)", "os": ["!win32"], "cpu": "x64", "libc": ["musl"]}}}
      """,
      #"{"lockfileVersion": 1, "dependencies": {"a": {"version": "1", "resolved": "https://registry.npmjs.org/a/-/a-1.tgz", "dependencies": {"b": {}}}}}"#,
    ],
    .pythonLock: [
      """
      lock-version = "1.0"
      [[packages]]
      name = "left"
      marker = "sys_platform == 'linux' and (python_version < '3.9' or extra == 'x')"
      requires-python = ">=3.8,!=3.9.*"
      [[packages.wheels]]
      url = "https://f.example/left-1.0-py3-none-any.whl"
      upload-time = 2026-01-01T00:00:00Z
      size = 12_34
      hashes = { sha256 = "\(sha256)" }
      """
    ],
    .requirements: [
      """
      --index-url https://i.example/simple # here
      left[a,b]==1.0 ; python_version >= "3.8" \\
        --hash=sha256:\(sha256) \\
        --hash sha256:\(sha256)
      right @ https://f.example/right-1.0.tar.gz#sha256=\(sha256) ; os_name == 'nt'
      -e ./x
      """
    ],
    .packageIndex: [
      """
      {"meta": {"api-version": "1.1"}, "name": "left", "files": [{"filename": "left-1.0.tar.gz",
      "url": "../../left-1.0.tar.gz", "hashes": {"sha256": "\(sha256)"}, "size": 5, "yanked": false}]}
      """,
      """
      <!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0"><base href="/x/">
      </head><body><!-- c --><a href="left-1.0.tar.gz#sha256=\(sha256)" data-requires-python="&gt;=3.8">
      left-1.0.tar.gz</a><br><a href='b'>b</a></body></html>
      """,
    ],
    .goSums: [
      """
      example.com/Left v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
      example.com/Left v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
      """
    ],
  ]

  static let sha1 = String(repeating: "5c", count: 20)
  static let sha256 = String(repeating: "ab", count: 32)
  /// `sha256` in base64.
  static let base64 = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
}

extension Result<Manifest, Failure> {
  /// Entries, parts, rejections and warnings, one per line.
  var lines: String {
    switch self {
    case .failure(let failure): "\(failure.code.rawValue): \(failure.message)"
    case .success(let manifest): manifest.allLines.joined(separator: "\n")
    }
  }
}

extension Manifest {
  fileprivate var allLines: [String] {
    entries.map(\.lockLine)
      + furtherDocuments.map { document in
        guard case .packageIndex(let requirement) = document.kind else {
          return "part \(document.url.string)"
        }
        let digests = requirement.digests.map(\.description).joined(separator: ",")
        return
          "part \(document.url.string) \(requirement.project)==\(requirement.version) \(digests)"
      }
      + rejected.map { "rejected \($0.url): \($0.failure.code.rawValue): \($0.failure.message)" }
      + warnings.map { "\($0.severity.rawValue) \($0.message)" }
  }
}

extension ManifestEntry {
  fileprivate var lockLine: String {
    var words = [url.string]
    if let id, !isIdentifierMade { words.append("id=\(id)") }
    if let path { words.append("path=\(path)") }
    words += digests.map(\.description)
    if let size { words.append("size=\(size)") }
    switch lifetime {
    case .immutable: words.append("immutable")
    case .atMost(let duration): words.append("ttl=\(duration)")
    case nil: break
    }
    if let revision { words.append("revision=\(revision)") }
    if let published { words.append("published=\(Timestamp.format(published))") }
    return words.joined(separator: " ")
  }
}
