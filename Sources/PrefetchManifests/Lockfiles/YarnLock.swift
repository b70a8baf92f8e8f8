internal import PrefetchCore
internal import PrefetchCrypto

/// Reads yarn.lock of Yarn 1.
enum YarnLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    var reader = YarnLockReader(rules: source.rules)
    for line in try LockLines(bytes) { try reader.read(line) }
    return try reader.finished()
  }
}

private struct YarnLockReader {
  private struct Package {
    var line: LockLines.LockLine
    /// First of the requests that the package satisfies: `@scope/name@^1.0.0`.
    var wish: String
    var version: String?
    var resolved: String?
    var integrity: String?
  }

  private let registry: PackageRegistry
  private let asksDates: Bool
  private var draft = ManifestDraft()
  private var package: Package?
  private var weakCount = 0
  private let leavesSome: Bool

  init(rules: ManifestRules) {
    asksDates = rules.asksDates
    registry = PackageRegistry(rules, standsFor: ["registry.yarnpkg.com", "registry.npmjs.org"])
    leavesSome = !rules.omitted.isEmpty
  }

  // MARK: Lines

  mutating func read(_ line: LockLines.LockLine) throws(Failure) {
    let text = line.text.drop { $0 == " " }
    guard !text.isEmpty, text.first != "#" else { return }
    switch line.text.utf8.count - text.utf8.count {
    case 0: try begin(text, line)
    case 2: try readMember(text, line)
    default:
      // Deeper lines list a package's dependencies, which have entries of their own.
      guard package != nil else {
        throw line.invalid("it is indented, but no entry is above it")
      }
    }
  }

  private mutating func begin(_ text: Substring, _ line: LockLines.LockLine) throws(Failure) {
    guard text != "__metadata:" else {
      throw Failure(
        .unsupported,
        "it is a yarn.lock of Yarn 2 or later, whose checksums are of files that Yarn makes itself; "
          + "make a package-lock.json with `npm install --package-lock-only`"
      )
    }
    guard text.last == ":" else {
      throw line.invalid("a package begins with its names and a colon; this line has none")
    }
    addPackage()
    guard let wish = Self.word(text.dropLast()) else {
      throw line.invalid("the name of the package is not a word")
    }
    package = Package(line: line, wish: wish)
  }

  private mutating func readMember(
    _ text: Substring,
    _ line: LockLines.LockLine
  ) throws(Failure) {
    guard package != nil else { throw line.invalid("it is indented, but no entry is above it") }
    guard text.last != ":" else { return }
    guard let key = Self.word(text) else { throw line.invalid("it begins with no word") }
    guard let blank = text.firstIndex(of: " "),
      let value = Self.word(text[blank...].drop { $0 == " " })
    else { throw line.invalid("`\(key.prefix(80))` has no value") }
    switch key {
    case "version": package?.version = value
    case "resolved": package?.resolved = value
    case "integrity":
      // Without quotes the rest of the line is the value, which may hold several digests.
      let rest = text[blank...].drop { $0 == " " }
      package?.integrity = rest.first == "\"" ? value : String(rest)
    default: break
    }
  }

  private static func word(_ text: Substring) -> String? {
    guard text.first == "\"" else {
      let word = text.prefix { $0 != "," && $0 != " " }
      return word.isEmpty ? nil : String(word)
    }
    var word = ""
    var isEscaped = false
    for character in text.dropFirst() {
      if isEscaped {
        word.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        return word.isEmpty ? nil : word
      } else {
        word.append(character)
      }
    }
    return nil
  }

  // MARK: Packages

  consuming func finished() throws(Failure) -> Manifest {
    addPackage()
    if leavesSome {
      draft.warn(
        "a yarn.lock does not say what is for development or optional: `omit` leaves nothing"
      )
    }
    if weakCount > 0 {
      draft.addNotice(
        CountedNoun("package has", "packages have").text(weakCount)
          + " a SHA-1 only, which finds damage and proves nothing"
      )
    }
    return try draft.finished()
  }

  private mutating func addPackage() {
    guard let package else { return }
    self.package = nil
    guard let resolved = package.resolved else {
      return draft.leaveOut(
        String(Self.name(in: package.wish)),
        LeftOut(CountedNoun("package"), "without `resolved`, such as links and workspaces")
      )
    }
    let lower = resolved.lowercased()
    let path = lower.prefix { $0 != "#" && $0 != "?" }
    guard lower.hasPrefix("http:") || lower.hasPrefix("https:"), !path.hasSuffix(".git") else {
      return draft.leaveOut(
        String(Self.name(in: package.wish)),
        .unpublished("from git or local files")
      )
    }
    let id = package.version.map { "\(Self.name(in: package.wish))@\($0)" }
    do throws(Failure) {
      let entry = try entry(package, at: resolved)
      draft.add(entry, named: id)
      if asksDates {
        let name = String(Self.name(in: package.wish))
        draft.addDate(of: name, package.version.map { String($0) }, file: entry.url)
      }
    } catch {
      draft.reject(resolved, id: id, error)
    }
  }

  private mutating func entry(
    _ package: Package,
    at resolved: String
  ) throws(Failure) -> ManifestEntry {
    let (address, sum) = Self.parts(resolved)
    let declared = try registry.resolve(address)
    var entry = ManifestEntry(url: declared.url)
    entry.lifetime = .immutable
    entry.path = Self.fileName(of: declared.url)
    if let integrity = package.integrity {
      do throws(Integrity.Fault) {
        entry.digests = try Integrity.expectedDigests(in: integrity)
      } catch {
        throw package.line.invalid("`integrity` \(error)")
      }
    }
    entry.digests = try EntryCollector.digests(entry.digests, with: declared)
    // The SHA-1 behind the URL adds nothing to a stronger digest.
    guard let sum, !entry.digests.contains(where: { $0.algorithm > .sha1 }) else { return entry }
    guard entry.digests.allSatisfy({ $0.algorithm != .sha1 || $0 == sum }) else {
      throw package.line.invalid("`resolved` and `integrity` name different SHA-1 sums")
    }
    if !entry.digests.contains(sum) { entry.digests.append(sum) }
    weakCount += 1
    return entry
  }

  /// Splits an address into the URL and the SHA-1 that Yarn writes as its fragment.
  private static func parts(_ resolved: String) -> (address: Substring, sum: ExpectedDigest?) {
    guard let mark = resolved.firstIndex(of: "#") else { return (resolved[...], nil) }
    let text = resolved[resolved.index(after: mark)...]
    guard text.utf8.count == 40, let bytes = Hexadecimal.decode(text) else {
      return (resolved[...], nil)
    }
    return (resolved[..<mark], ExpectedDigest(algorithm: .sha1, bytes: bytes))
  }

  private static func fileName(of url: WebURL) -> String? {
    guard let name = try? YarnMirrorName.make(of: url) else { return nil }
    return FileName.isSafe(name) ? name : nil
  }

  private static func name(in wish: String) -> Substring {
    let scope = wish.first == "@" ? 1 : 0
    return wish[..<(wish.dropFirst(scope).firstIndex(of: "@") ?? wish.endIndex)]
  }
}
