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
    let places = try context.places(loaded)
    let (standing, news) = try ask(loaded, places)
    let exit = Self.exit(standing, news)
    context.console.report(standing.diagnostics)
    if let failure = standing.renewalFailure {
      context.console.report(
        "registration.\(failure.code.rawValue)",
        "the license was not renewed: \(failure.message)",
        hint: "the earlier registration stays valid"
          + (standing.expires.map { " until \(Timestamp.format($0))" } ?? "")
      )
    }
    context.console.print(document(standing, exit, loaded), orLines: [text(standing)])
    return exit.code
  }

  func ask(
    _ loaded: LoadedConfiguration,
    _ places: Places
  ) throws(CommandExit) -> (LicenseStanding, [RegistrationNews]) {
    var news: [RegistrationNews] = []
    let standing = try context.writingState(places) { state throws(Failure) in
      let subscriptions = try Subscriptions.resolve(
        loaded,
        state: state,
        cache: places.cache,
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
    return (standing, news)
  }

  /// Returns the exit status; an unreachable endpoint fails even while a registration is valid.
  private static func exit(_ standing: LicenseStanding, _ news: [RegistrationNews]) -> ExitStatus {
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
    return standing.word == .registered ? .ok : .deferred
  }

  private func text(_ standing: LicenseStanding) -> String {
    switch standing.word {
    case .registered:
      "registered" + (standing.expires.map { " until \(Timestamp.format($0))" } ?? "")
        + (standing.renewalFailure.map { "; \($0.message), the former one holds" } ?? "")
    case .refused: "refused"
    case .notRegistered:
      "not registered"
        + (standing.deferral?.until.map { ", next attempt after \(Timestamp.format($0))" } ?? "")
    }
  }

  private func document(
    _ standing: LicenseStanding,
    _ exit: ExitStatus,
    _ loaded: LoadedConfiguration
  ) -> JSONValue {
    [
      "schema": "prefetch-register/1",
      "exit": .exit(exit, code: exit.code, nextAllowedAt: standing.deferral?.until),
      "registration": .string(standing.word.rawValue),
      "url": .optional(loaded.configuration.registration.url?.redacted),
      "bundle_id": .optional(standing.bundleID.map(mask)),
      "expires": .time(standing.expires),
      "retry_at": .time(standing.deferral?.until),
      "error": .failure(standing.failure ?? standing.renewalFailure, mask),
      "diagnostics": .array(
        standing.diagnostics.map { .diagnostic($0.masked(secrets: context.console.secrets)) }
      ),
    ]
  }

  private func mask(_ text: String) -> String {
    Redaction.masked(text, needles: context.console.needles)
  }
}
