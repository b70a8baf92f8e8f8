import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Lock file of a configuration or a mirror: its place, its text, and its terms for a run.
struct LockfilePlace {
  let path: String
  /// Whether the configuration names the file; the default place may be empty.
  let isNamed: Bool

  /// Returns nil if the configuration has no lock file, or says `none`.
  init?(_ loaded: LoadedConfiguration, in currentDirectory: String) {
    let named = loaded.configuration.lockfile
    if let folder = MirrorFolder.path(loaded), named.isEmpty {
      self.init(path: "\(folder)/\(MirrorRules.ownFolder)/\(Lockfile.name)", isNamed: false)
    } else if !named.isEmpty {
      guard named != Configuration.noLockfile else { return nil }
      self.init(path: named, isNamed: true)
    } else {
      guard let file = loaded.files.first, file != "-" else { return nil }
      let folder = PathText.split(file.hasPrefix("/") ? file : "\(currentDirectory)/\(file)").folder
      self.init(path: "\(folder)/\(Lockfile.name)", isNamed: false)
    }
  }

  private init(path: String, isNamed: Bool) {
    self.path = path
    self.isNamed = isNamed
  }
}

extension CommandContext {
  /// Returns the terms of the lock file that a run must keep to; nil without one.
  func lockfile(
    _ loaded: LoadedConfiguration,
    isFrozen: Bool,
    lifting lifted: [String]? = nil
  ) throws(CommandExit) -> LockfileTerms? {
    let isMirror = MirrorFolder.path(loaded) != nil
    // A mirror without `--frozen` takes what its list has now.
    guard isFrozen || !isMirror || lifted != nil else { return nil }
    let place = LockfilePlace(loaded, in: environment.currentDirectory)
    var known: (lockfile: Lockfile, fingerprint: UInt64)?
    if let place { known = try readLockfile(place.path, loaded) }
    guard let known else {
      if isFrozen {
        let path = place?.path ?? Lockfile.name
        throw failed(
          .config,
          "lockfile.missing",
          "`--frozen` needs a lock file, and there is none at `\(path)`",
          hint: "`prefetch freeze` writes one of what is stored"
        )
      }
      if let place, place.isNamed, lifted == nil {
        console.report(
          Diagnostic(
            "lockfile.missing",
            "`lockfile` names `\(place.path)`, which is missing: no item is pinned",
            severity: .warning,
            hint: "`prefetch freeze` writes it; `lockfile: none` says that there is none"
          )
        )
      }
      return nil
    }
    try checkPlatform(of: known.lockfile, at: place?.path ?? "")
    var terms = LockfileTerms(known.lockfile, fingerprint: known.fingerprint)
    terms.isFrozen = isFrozen
    terms.lifted = lifted
    return terms
  }

  /// Returns what is wrong with the lock file that runs would keep to.
  func lockfileDiagnostics(_ loaded: LoadedConfiguration) -> [Diagnostic] {
    guard let place = LockfilePlace(loaded, in: environment.currentDirectory) else { return [] }
    do throws(LockfileProblem) {
      let platform = try lockfile(at: place.path, loaded)?.lockfile.platform
      guard let platform, platform != ThisMachine.platformName else { return [] }
      return [Self.otherPlatform(platform, at: place.path)]
    } catch {
      return [error.diagnostic]
    }
  }

  private static func otherPlatform(_ platform: String, at path: String) -> Diagnostic {
    Diagnostic(
      "lockfile.platform",
      "`\(path)` is of `\(platform)`, and this machine is `\(ThisMachine.platformName)`",
      hint:
        "give each platform a file of its own with `lockfile`, or set `platform` of its segments"
    )
  }

  /// Reads a lock file and hashes its text; nil if it is missing.
  func readLockfile(
    _ path: String,
    _ loaded: LoadedConfiguration
  ) throws(CommandExit) -> (lockfile: Lockfile, fingerprint: UInt64)? {
    do throws(LockfileProblem) {
      return try lockfile(at: path, loaded)
    } catch {
      throw failed(.config, [error.diagnostic])
    }
  }

  /// Reads a lock file without a message.
  func lockfile(
    at path: String,
    _ loaded: LoadedConfiguration
  ) throws(LockfileProblem) -> (lockfile: Lockfile, fingerprint: UInt64)? {
    let bytes: [UInt8]
    do throws(FileReading.Fault) {
      bytes = try FileReading.read(path, limit: Self.longestLockfile)
    } catch .missing {
      return nil
    } catch {
      throw LockfileProblem(
        diagnostic: Diagnostic(
          "lockfile.unreadable",
          "`\(path)`: \(error.reason)",
          hint: "let this user read it, or name another file with `lockfile`"
        )
      )
    }
    let placeholders = SecretPlaceholders(loaded.placeholders)
    do throws(LockfileText.Fault) {
      let lockfile = try unsafe LockfileText.read(bytes.span.bytes) { placeholders.fill($0) }
      var hash = StableHash()
      hash.combine(bytes[...])
      return (lockfile, hash.value)
    } catch {
      throw LockfileProblem(
        diagnostic: Diagnostic(
          "lockfile.damaged",
          error.message,
          hint: "restore the file, or write it again with `prefetch freeze`",
          file: path,
          at: SourceLocation(file: path, line: error.line, column: 1)
        )
      )
    }
  }

  private static let longestLockfile = 1 << 30

  private func checkPlatform(of lockfile: Lockfile, at path: String) throws(CommandExit) {
    guard let platform = lockfile.platform, platform != ThisMachine.platformName else { return }
    throw failed(.config, [Self.otherPlatform(platform, at: path)])
  }
}

struct LockfileProblem: Error {
  var diagnostic: Diagnostic
}

extension ThisMachine {
  /// System and processor, as a lock file names them.
  static var platformName: String {
    platform().map { "\($0.system)/\($0.machine)" } ?? "unknown"
  }
}

/// Placeholders such as `${file:token}`, which take the place of secrets in a lock file.
struct SecretPlaceholders {
  /// Secrets as URLs spell them and as they are, with their placeholders; longest first.
  private let secrets: [(spelling: String, value: String, placeholder: String)]

  init(_ placeholders: [String: String]) {
    secrets = placeholders.sorted { $0.key < $1.key }.flatMap { value, placeholder in
      Set([value, Self.canonical(value) ?? value]).sorted().map { ($0, value, placeholder) }
    }
    .filter { !$0.0.isEmpty }
    .sorted { $0.0.utf8.count > $1.0.utf8.count }
  }

  func place(_ url: String) -> String {
    secrets.reduce(url) { text, secret in text.replacing(secret.spelling, with: secret.placeholder)
    }
  }

  /// Whether a URL holds the content of a file or a credential.
  func isIn(_ url: String) -> Bool {
    // A variable, such as a version, may also make the URLs of a list from a server.
    secrets.contains { !$0.placeholder.hasPrefix("${env:") && url.contains($0.spelling) }
  }

  /// Returns nil if a placeholder is left that the configuration does not have.
  func fill(_ text: String) -> String? {
    guard text.contains("${") else { return text }
    let filled = secrets.reduce(text) { $0.replacing($1.placeholder, with: $1.value) }
    return filled.contains("${") ? nil : filled
  }

  private static func canonical(_ value: String) -> String? {
    (try? WebURL("https://secret.invalid/\(value)")).map { String($0.path.dropFirst()) }
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    guard contains(part) else { return self }
    var text = ""
    var rest = self[...]
    while let range = rest.firstRange(of: part) {
      text += rest[..<range.lowerBound] + other
      rest = rest[range.upperBound...]
    }
    return text + rest
  }
}
