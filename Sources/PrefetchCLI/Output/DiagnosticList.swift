import PrefetchCore

extension [Diagnostic] {
  mutating func append(
    _ code: Diagnostic.Code,
    _ message: String,
    severity: Diagnostic.Severity = .error,
    hint: String? = nil
  ) {
    append(Diagnostic(code, message, severity: severity, hint: hint))
  }
}

extension Diagnostic {
  static func exclusive(_ one: String, _ other: String) -> Self {
    Diagnostic("usage.conflict", "`\(one)` and `\(other)` exclude each other, so leave one out")
  }
}

extension Diagnostic.Code: ExpressibleByStringInterpolation {}
