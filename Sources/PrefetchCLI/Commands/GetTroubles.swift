import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// Collects why items were not delivered, for stderr and the document.
struct GetTroubles {
  private struct Trouble {
    var url: String
    var diagnostic: Diagnostic
    var isRetryable: Bool
  }

  private let loaded: LoadedConfiguration
  private var troubles: [Trouble] = []

  init(of loaded: LoadedConfiguration) {
    self.loaded = loaded
  }

  var diagnostics: [Diagnostic] {
    troubles.map(\.diagnostic)
  }

  var isRetryable: Bool {
    troubles.contains(where: \.isRetryable)
  }

  var document: JSONValue {
    .array(
      troubles.map { trouble in
        [
          "url": .string(trouble.url),
          "error": [
            "code": .string(trouble.diagnostic.code.description),
            "message": .string(trouble.diagnostic.message),
            "retryable": .bool(trouble.isRetryable),
          ],
        ]
      }
    )
  }

  mutating func add(_ failure: Failure, of address: String) {
    let url = Redaction.masked(Redaction.url(address), secrets: loaded.secrets)
    // Without a configuration file the hint names `--set`, for the host that the user typed.
    let host = (try? WebURL(address)).flatMap { $0.scheme == .http ? $0.host : nil } ?? ""
    let isOwn =
      loaded.files.isEmpty && failure.code == .transportSecurity && !host.isEmpty
      && failure.message.hasPrefix("plain http to `\(host)`")
      && !failure.message.contains("allow_http")
    add(
      url,
      "\(failure.code.rawValue)",
      failure.message,
      hint: isOwn
        ? "to allow this one host: `--set allow_http=\(PlainHostName.exception(for: host))`" : nil,
      isRetryable: failure.isTransient || failure.code.category == .connectivity
    )
  }

  mutating func add(_ deferral: Deferral, _ reason: String, of url: WebURL) {
    let isSaid = reason.isEmpty || reason == deferral.rule.rawValue || deferral.rule == .age
    let more = isSaid ? "" : ": \(reason)"
    add(
      url.redacted,
      "item.deferred",
      deferral.text(host: url.authority) + more,
      isRetryable: true
    )
  }

  mutating func addInterrupted(_ url: WebURL) {
    add(url.redacted, "item.deferred", "the command was interrupted", isRetryable: true)
  }

  mutating func add(_ absence: Absence, of url: WebURL) {
    let end = absence.end(lasting: loaded.configuration.cache.negativeTimeToLive)
    add(
      url.redacted,
      "item.absent",
      "it has been absent since \(Timestamp.format(absence.since)) (the server answered \(absence.status)); checked again at \(Timestamp.format(end))",
      hint: "`--revalidate` asks at once",
      isRetryable: true
    )
  }

  mutating func addUnkept(_ url: WebURL) {
    add(
      url.redacted,
      "item.not-kept",
      "it is not stored (`no-store` of its server, or `store: false`), so it has no path",
      hint: "take the body itself: leave out `--path`, or write it with `-o`"
    )
  }

  mutating func addDamaged(_ url: WebURL, isFetchable: Bool) {
    add(
      url.redacted,
      "store.damaged",
      "its stored body is lost or damaged",
      hint: isFetchable
        ? "leave out `--offline` to fetch it again"
        : "fetched again, it could not be read either: check the disk"
    )
  }

  mutating func addMissing(_ url: WebURL) {
    add(url.redacted, "item.not-cached", "it is not in the cache as it is declared")
  }

  mutating func addUnknownName(_ name: String, _ diagnostic: Diagnostic) {
    troubles.append(
      Trouble(url: Redaction.url(name), diagnostic: diagnostic, isRetryable: false)
    )
  }

  private mutating func add(
    _ url: String,
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil,
    isRetryable: Bool = false
  ) {
    troubles.append(
      Trouble(
        url: url,
        diagnostic: Diagnostic(code, "`\(url)`: \(message)", hint: hint),
        isRetryable: isRetryable
      )
    )
  }
}
