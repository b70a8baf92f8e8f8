/// Message for the user, worded where the fact is known.
///
/// Has no full stop and sets literals in backticks; user-info in URLs is masked on creation.
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
  package var file: String?
  package var location: SourceLocation?
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
  package static let lockChoice: Code = "manifest.choice"
}

extension [Diagnostic] {
  package var containsErrors: Bool {
    contains { $0.severity == .error }
  }
}
