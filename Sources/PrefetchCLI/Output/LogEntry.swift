import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

struct LogSubject: Hashable {
  static let nothing = LogSubject()

  /// URL, redacted by the caller.
  var url: String?
  var segment: String?

  func masked(_ needles: SecretNeedles) -> Self {
    guard !needles.isEmpty else { return self }
    return LogSubject(
      url: url.map { Redaction.masked($0, needles: needles) },
      segment: segment.map { Redaction.masked($0, needles: needles) }
    )
  }
}

/// A message as one JSON object on one line, for `--log-format json`.
struct LogEntry {
  enum Level: String {
    case debug
    case info
    case warning
    case error
  }

  private let level: Level
  private let message: String
  private let subject: LogSubject
  private let run: String?
  private var members: [(String, JSONValue?)] = []

  init(level: Level, _ message: String, about subject: LogSubject, run: String?) {
    self.level = level
    self.message = message
    self.subject = subject
    self.run = run
  }

  init(_ diagnostic: Diagnostic, about subject: LogSubject, run: String?) {
    let level: Level =
      switch diagnostic.severity {
      case .note: .info
      case .warning: .warning
      case .error: .error
      }
    self.init(level: level, diagnostic.message, about: subject, run: run)
    members = [
      ("code", .string(diagnostic.code.description)),
      ("hint", diagnostic.hint.map { .string($0) }),
      ("path", diagnostic.path.map { .string($0) }),
      ("file", diagnostic.file.map { .string($0) }),
      ("line", diagnostic.location.map { .integer(Int64($0.line)) }),
      ("column", diagnostic.location.map { .integer(Int64($0.column)) }),
    ]
  }

  func line(at time: Instant) -> String {
    let always: [(String, JSONValue)] = [
      ("time", .time(time)), ("level", .string(level.rawValue)), ("run", .optional(run)),
      ("message", .string(message)),
    ]
    let known =
      members + [
        ("url", subject.url.map { .string($0) }), ("segment", subject.segment.map { .string($0) }),
      ]
    return JSONWriter.string(
      .object(always + known.compactMap { name, value in value.map { (name, $0) } })
    )
  }
}
