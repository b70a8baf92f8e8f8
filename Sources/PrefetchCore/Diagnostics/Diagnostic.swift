/// One thing that a person should read, worded once, where the fact is known.
///
/// The message has no full stop, sets literals in backticks and says what to change. Names and
/// passwords in URLs are masked when it is made, whichever code quotes them.
package struct Diagnostic: Error, Hashable, Sendable {
  /// An open set of names such as `config.unknown-key`, stable enough to be matched by scripts.
  package struct Code: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package var description: String

    package init(stringLiteral value: String) {
      description = value
    }
  }

  package enum Severity: String, Hashable, Sendable {
    case note
    case warning
    case error
  }

  package var code: Code
  package var severity: Severity
  package var message: String
  package var hint: String?
  /// Where in the configuration: `segments[0].items[2].checksum`.
  package var path: String?
  /// The file itself, also where no line is known (a binary plist, a missing file).
  package var file: String?
  package var location: SourceLocation?
  /// Whether the line it points at holds a secret and must not be shown.
  package var hidesSource = false

  package init(
    _ code: Code,
    _ message: String,
    severity: Severity = .error,
    hint: String? = nil,
    path: String? = nil,
    file: String? = nil,
    at location: SourceLocation? = nil
  ) {
    self.code = code
    self.severity = severity
    self.message = UserInformation.masked(message)
    self.hint = hint.map(UserInformation.masked)
    self.path = path
    self.file = file ?? location?.file
    self.location = location
  }
}

extension Diagnostic {
  /// Notes about what a reader takes of a lock file that is for several machines and purposes.
  package static let lockChoice: Code = "manifest.choice"
}

extension [Diagnostic] {
  package var containsErrors: Bool {
    contains { $0.severity == .error }
  }
}
