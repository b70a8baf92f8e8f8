internal import PrefetchCore

/// Reads go.sum: the modules of a build, requested from a module proxy.
enum GoSums {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let proxy = try WebURL.known(source.rules.goProxy, orElse: "https://proxy.golang.org")
    var reader = GoSumReader(proxy: proxy, hidden: ModulePatterns(source.rules.privateModules))
    for line in try LockLines(bytes) { try reader.read(line) }
    return try reader.finished()
  }
}

private struct GoSumReader {
  private struct File {
    var line: LockLines.LockLine
    var name: String
    var version: String
    var suffix: String
    /// Accepted digests; a body needs to match one of them.
    var digests: [ExpectedDigest] = []
  }

  private let proxy: WebURL
  private let hidden: ModulePatterns
  private var files: [File] = []
  private var indices: [String: Int] = [:]
  private var draft = ManifestDraft()

  init(proxy: WebURL, hidden: ModulePatterns) {
    self.proxy = proxy
    self.hidden = hidden
  }

  mutating func read(_ line: LockLines.LockLine) throws(Failure) {
    let words = line.text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard !words.isEmpty else { return }
    guard words.count == 3 else {
      throw line.invalid(
        "a line has three words, `MODULE VERSION h1:SUM`; this one has \(words.count)"
      )
    }
    let isGoMod = words[1].hasSuffix("/go.mod")
    let version = isGoMod ? String(words[1].dropLast(7)) : words[1]
    guard !hidden.match(words[0]) else {
      return draft.leaveOut(
        "\(words[0]) \(words[1])",
        LeftOut(
          CountedNoun("sum"),
          "of a module that `GOPRIVATE` or `GONOPROXY` names",
          isMissed: false
        )
      )
    }
    guard words[2].hasPrefix("h1:") else {
      // Lines with newer hash functions would stand beside the `h1:` line.
      return draft.leaveOut(
        "\(words[0]) \(words[1])",
        LeftOut(CountedNoun("sum"), "of another function than `h1:`")
      )
    }
    guard let bytes = Base64.decode(words[2].dropFirst(3)), bytes.count == 32 else {
      throw line.invalid(
        "`\(words[2].prefix(80))` is not a sum: `h1:` and 44 characters of base64",
        word: 3
      )
    }
    let file = File(
      line: line,
      name: words[0],
      version: version,
      suffix: isGoMod ? ".mod" : ".zip"
    )
    let key = Self.key(file, file.suffix)
    let index = indices[key] ?? files.count
    if index == files.count {
      if let surplus = ManifestBounds.surplus(items: files.count + 1, bytes: 0) {
        throw line.invalid(surplus)
      }
      indices[key] = index
      files.append(file)
    }
    let digest = ExpectedDigest(algorithm: isGoMod ? .goMod : .goZip, bytes: bytes)
    files[index].digests.appendIfNew(digest)
  }

  private static func key(_ file: File, _ suffix: String) -> String {
    "\(file.name) \(file.version)\(suffix)"
  }

  consuming func finished() throws(Failure) -> Manifest {
    for file in files {
      add(file)
      // `go mod download` requests both with every zip; sums do not cover all of them.
      guard file.suffix == ".zip" else { continue }
      for suffix in [".info", ".mod"] where indices[Self.key(file, suffix)] == nil {
        var companion = file
        companion.suffix = suffix
        companion.digests = []
        add(companion)
      }
    }
    return try draft.finished()
  }

  private mutating func add(_ file: File) {
    let id = "\(file.name)@\(file.version)\(file.suffix)"
    do throws(Failure) {
      guard let name = Self.escaped(file.name, isPath: true) else {
        throw file.line.invalid("`\(file.name)` is not a module's path", word: 1)
      }
      guard let version = Self.escaped(file.version, isPath: false), version.hasPrefix("v") else {
        throw file.line.invalid("`\(file.version)` is not a version of a module", word: 2)
      }
      let path = "\(name)/@v/\(version)\(file.suffix)"
      let folder = proxy.path.hasSuffix("/") ? proxy.path : proxy.path + "/"
      do {
        var entry = ManifestEntry(url: try proxy.resolving(folder + path))
        entry.digests = file.digests
        entry.lifetime = .immutable
        entry.path = path
        draft.add(entry, named: id)
      } catch {
        throw Failure(.badURL, "it \(error)")
      }
    } catch {
      draft.reject(id, id: id, error)
    }
  }

  /// Encodes a capital as `!` and the small letter: names must differ by more than case.
  private static func escaped(_ text: String, isPath: Bool) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard isPath || parts.count == 1,
      parts.allSatisfy({ !$0.isEmpty && $0.first != "." && $0.last != "." })
    else { return nil }
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): escaped += [UInt8(ascii: "!"), byte | 0x20]
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
        UInt8(ascii: "+"):
        escaped.append(byte)
      case UInt8(ascii: "/") where isPath: escaped.append(byte)
      default: return nil
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}

/// Go's module patterns, which match as many leading path components as the pattern has.
private struct ModulePatterns {
  private let patterns: [[Substring]]

  init(_ text: String) {
    patterns = text.split(separator: ",").filter { !$0.isEmpty }.map { Self.parts($0) }
  }

  func match(_ module: String) -> Bool {
    guard !patterns.isEmpty else { return false }
    let parts = Self.parts(module[...])
    return patterns.contains { pattern in
      pattern.count <= parts.count
        && zip(pattern, parts).allSatisfy { Glob.matches(String($0), String($1)) }
    }
  }

  private static func parts(_ path: Substring) -> [Substring] {
    path.split(separator: "/", omittingEmptySubsequences: false)
  }
}
