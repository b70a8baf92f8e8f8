package import PrefetchCore
package import PrefetchDocuments

/// A loaded configuration with its diagnostics, origins and files.
package struct LoadedConfiguration: Sendable {
  /// Configuration with defaults in place of unusable values; see ``diagnostics``.
  package var configuration = Configuration()
  package var origins: [String: ValueOrigin] = [:]
  package var diagnostics: [Diagnostic] = []
  var lints: [Diagnostic] = []
  package var notices: [Diagnostic] = []
  /// Identity under which the store keeps this configuration's declarations.
  package var identity = ""
  /// Names of the files in order; includes follow the including file.
  package var files: [String] = []
  package var syntax: DocumentReader.Syntax?
  package var isInfoPlist = false
  package var secrets: [String] = []
  /// References such as `${file:token}` by the secrets that they insert.
  package var placeholders: [String: String] = [:]
  /// Beginnings of URLs behind which a value is secret and unknown; `://` hides all URLs.
  package var hiddenURLs: [String] = []
  var maskedPaths: Set<ValuePath> = []
  package var documents: [String: [UInt8]] = [:]
  /// Values of options and variables, in the order in which they apply.
  package var options: [Override] = []
  /// Keys that files, variables and options set.
  var keys: Set<String> = []
  /// Set keys of each segment, in order.
  var segmentKeys: [Set<String>] = []

  /// Effective configuration: sorted keys, base units, masked secrets; as costly as loading.
  package var canonical: JSONValue {
    Configuration.table.encode(configuration)
      .masked(at: maskedPaths, hiding: secrets)
      .sortedKeys
  }

  /// Canonical values of the keys that are set; all others have this version's defaults.
  ///
  /// Runs compare it, since the whole canonical form costs more than loading.
  package var declared: JSONValue {
    var named = Configuration.table.encode(configuration) { key in
      // Pins of both keys are gathered in one.
      key != "segments" && (keys.contains(key) || key == "tls" && keys.contains(Self.security))
    }
    let segments = zip(configuration.segments, segmentKeys).map { segment, keys in
      Segment.table.encode(segment) { keys.contains($0) || $0 == "manifest" }
    }
    if case .object(let members) = named {
      named = .object(members + [("segments", .array(segments))])
    }
    return named.masked(at: maskedPaths, hiding: secrets)
  }

  private static let security = "transport_security"

  package var hasErrors: Bool {
    diagnostics.containsErrors
  }

  package var hasUsageErrors: Bool {
    diagnostics.contains { diagnostic in
      guard diagnostic.severity == .error, let file = diagnostic.file else { return false }
      return documents[file] == nil && (file.hasPrefix("--") || file.hasPrefix("PREFETCH_"))
    }
  }

  /// Longest line in bytes that a message shows: longer ones are written by machines.
  private static let longestShownLine = 4096

  /// Returns a line of a file without its line end; nil for one that is too long to be shown.
  package func sourceLine(of file: String, _ line: Int) -> String? {
    guard let bytes = documents[file], line > 0 else { return nil }
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    for _ in 1..<line {
      guard let end = rest.firstIndex(of: 0x0A) else { return nil }
      rest = rest[(end + 1)...]
    }
    let text = rest.prefix(Self.longestShownLine + 1).prefix { $0 != 0x0A && $0 != 0x0D }
    guard text.count <= Self.longestShownLine else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns a diagnostic at a value's origin, for checks that need more than the configuration.
  package func diagnostic(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity = .error,
    hint: String? = nil,
    at path: ValuePath
  ) -> Diagnostic {
    let text = path.description
    let origin =
      origins[text]
      ?? origins.filter { $0.key.hasPrefix(text) }.min { $0.key < $1.key }?.value
    return Diagnostic(
      code,
      message,
      severity: severity,
      hint: hint,
      path: text,
      file: origin?.source,
      at: origin?.location
    )
  }
}

// MARK: - Canonical form

extension JSONValue {
  func masked(at paths: Set<ValuePath>, hiding secrets: [String]) -> JSONValue {
    if paths.isEmpty, secrets.isEmpty { return self }
    return masked(at: paths, hiding: secrets, below: ValuePath())
  }

  private func masked(
    at paths: Set<ValuePath>,
    hiding secrets: [String],
    below path: ValuePath
  ) -> JSONValue {
    if paths.contains(path) { return .string(Secret.mask) }
    switch self {
    case .null, .bool, .integer, .double:
      return self
    case .string(let text):
      return secrets.contains { text.contains($0) } ? .string(Secret.mask) : self
    case .array(let values):
      return .array(
        values.enumerated().map { index, value in
          value.masked(at: paths, hiding: secrets, below: path.appending(.index(index)))
        }
      )
    case .object(let members):
      return .object(
        members.map { key, value in
          (key, value.masked(at: paths, hiding: secrets, below: path.appending(.key(key))))
        }
      )
    }
  }
}
