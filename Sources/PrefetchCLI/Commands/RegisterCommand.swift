import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct RegisterCommand: Command {
  let context: CommandContext
  let options: RegisterOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    let loaded = try context.configuration(isRequired: true)
    try context.requireTrustFiles(loaded)
    var objections = LicenseSetup.diagnostics(loaded).filter { $0.severity == .error }
    if loaded.configuration.registration.url == nil {
      objections.append(
        Diagnostic(
          "config.no-registration",
          "no registration server is set",
          hint: "set `registration.url`",
          file: loaded.files.first
        )
      )
    }
    guard objections.isEmpty else { return context.console.fail(.config, objections) }
    let locations = try context.locations(loaded)
    let (status, news) = try register(loaded, locations)
    let exit = Self.exit(status, news)
    context.console.report(status.diagnostics)
    if let failure = status.renewalFailure {
      context.console.report(
        "registration.\(failure.code.rawValue)",
        "the license was not renewed: \(failure.message)",
        hint: "the earlier registration stays valid"
          + (status.expires.map { " until \(Timestamp.format($0))" } ?? "")
      )
    }
    context.console.print(document(status, exit, loaded), orLines: [text(status)])
    return exit.code
  }

  func register(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(CommandExit) -> (LicenseStatus, [RegistrationNews]) {
    var news: [RegistrationNews] = []
    let status = try context.writingState(locations) { state throws(Failure) in
      let subscriptions = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: locations.cache,
        mayWrite: false
      )
      let registrar = Registrar(
        context: context,
        loaded: loaded,
        builder: context.builder(loaded, looksAtState: false)
      )
      return try registrar.settle(
        state,
        segments: subscriptions.segments.map(\.name),
        isForced: true
      ) { news.append($0) }
    }
    return (status, news)
  }

  /// Returns the exit status; an unreachable endpoint fails even while a registration is valid.
  private static func exit(_ status: LicenseStatus, _ news: [RegistrationNews]) -> ExitStatus {
    switch StopSignals.pending {
    case 15: return .terminated
    case .some: return .interrupted
    case nil: break
    }
    for case .failed(let code, _) in news {
      switch code.category {
      case .trust: return .trust
      case .denied: return .denied
      case .connectivity: return .unavailable
      case .io: return .io
      case .content: return .deferred
      }
    }
    return status.word == .registered ? .ok : .deferred
  }

  private func text(_ status: LicenseStatus) -> String {
    switch status.word {
    case .registered:
      "registered" + (status.expires.map { " until \(Timestamp.format($0))" } ?? "")
        + (status.renewalFailure.map { "; \($0.message), the former one holds" } ?? "")
    case .refused: "refused"
    case .notRegistered:
      "not registered"
        + (status.deferral?.until.map { ", next attempt after \(Timestamp.format($0))" } ?? "")
    }
  }

  private func document(
    _ status: LicenseStatus,
    _ exit: ExitStatus,
    _ loaded: LoadedConfiguration
  ) -> JSONValue {
    [
      "schema": "prefetch-register/1",
      "exit": .exit(exit, code: exit.code, nextAllowedAt: status.deferral?.until),
      "registration": .string(status.word.rawValue),
      "url": .optional(loaded.configuration.registration.url?.redacted),
      "bundle_id": .optional(status.bundleID.map(mask)),
      "expires": .time(status.expires),
      "retry_at": .time(status.deferral?.until),
      "error": .failure(status.failure ?? status.renewalFailure, mask),
      "diagnostics": .array(
        status.diagnostics.map { .diagnostic($0.masked(secrets: context.console.secrets)) }
      ),
    ]
  }

  private func mask(_ text: String) -> String {
    Redaction.masked(text, needles: context.console.needles)
  }
}
