package import PrefetchCore
package import PrefetchDocuments

/// A configuration and everything that is known of how it came about.
package struct LoadedConfiguration: Sendable {
  /// Defaults stand where a value could not be used; see ``diagnostics``.
  package var configuration = Configuration()
  /// Path to place, for every value that was set.
  package var origins: [String: ValueOrigin] = [:]
  /// Every problem found, in the order of files and lines.
  package var diagnostics: [Diagnostic] = []
  /// What is valid and may not be what was meant.
  var lints: [Diagnostic] = []
  /// What is worth knowing and needs no action.
  package var notices: [Diagnostic] = []
  /// Under what the store keeps what this configuration declared.
  package var identity = ""
  /// As they were named, the first one first, included ones after the one that includes them.
  package var files: [String] = []
  /// Of the first file.
  package var syntax: DocumentReader.Syntax?
  package var isInfoPlist = false
  /// Text that must not be shown anywhere.
  package var secrets: [String] = []
  /// Where values stand that are secret whatever they are.
  var maskedPaths: Set<ValuePath> = []
  /// What the files hold, for showing lines of them.
  package var documents: [String: [UInt8]] = [:]

  /// The effective configuration: keys sorted, values in base units, secrets masked.
  ///
  /// It is made anew each time, which takes as long as reading the files did.
  package var canonical: JSONValue {
    Configuration.table.encode(configuration)
      .masked(at: maskedPaths, hiding: secrets)
      .sortedKeys
  }

  package var hasErrors: Bool {
    diagnostics.containsErrors
  }

  /// Whether an error lies in an option or its variable, a matter of usage rather than of configuration.
  package var hasUsageErrors: Bool {
    diagnostics.contains { diagnostic in
      guard diagnostic.severity == .error, let file = diagnostic.file else { return false }
      return documents[file] == nil && (file.hasPrefix("--") || file.hasPrefix("PREFETCH_"))
    }
  }

  /// A line of one of the files, without its end.
  package func sourceLine(of file: String, _ line: Int) -> String? {
    guard let bytes = documents[file], line > 0 else { return nil }
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    for _ in 1..<line {
      guard let end = rest.firstIndex(of: 0x0A) else { return nil }
      rest = rest[(end + 1)...]
    }
    let text = rest.prefix { $0 != 0x0A && $0 != 0x0D }
    return String(decoding: text, as: UTF8.self)
  }

  /// A complaint about a value that only shows once more is known than the configuration alone.
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
  /// Without the values at these paths, and without text that holds one of the secrets.
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
