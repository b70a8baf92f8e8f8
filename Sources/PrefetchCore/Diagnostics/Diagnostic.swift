/// Message for the user, worded where the fact is known.
///
/// It has no full stop, sets literals in backticks and says what to change; names and passwords in
/// URLs are masked when it is made.
package struct Diagnostic: Error, Hashable, Sendable {
  /// Stable name such as `config.unknown-key`, for scripts to match.
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
  package var path: String?
  /// File name, also set if no line is known (a binary plist, a missing file).
  package var file: String?
  package var location: SourceLocation?
  /// Whether the source line holds a secret and must not be shown.
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
  /// Code of notes on which part of a lock file for several machines is used.
  package static let lockChoice: Code = "manifest.choice"
}

extension [Diagnostic] {
  package var containsErrors: Bool {
    contains { $0.severity == .error }
  }
}
