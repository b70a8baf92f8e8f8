import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

/// `check`: every problem of the configuration at once, without a network.
struct CheckCommand: Command {
  let context: CommandContext
  let options: CheckOptions

  func run() -> Int32 {
    let loaded = context.loadConfiguration(
      isRequired: true,
      needsSources: true,
      allowsUnsetSecrets: options.replacesMissingSecrets
    )
    let now = context.clock.now().wall
    if let signal = StopSignals.pending { return 128 + signal }
    var diagnostics = loaded.diagnostics
    if !loaded.hasErrors {
      diagnostics += loaded.expiryDiagnostics(at: now, expired: .error) + loaded.securityLints
      let places = Places.resolve(
        shared: context.shared,
        configuration: loaded.configuration,
        environment: context.environment
      )
      diagnostics += PublishingSetup.diagnostics(loaded, places)
      diagnostics += HookTrust.diagnostics(loaded)
      diagnostics += places?.lowerDiagnostics(loaded.configuration.cache.lower) ?? []
      let builder = context.builder(loaded)
      diagnostics += PlainHTTPLints(loaded: loaded, policy: builder.policy, now: now).diagnostics
      diagnostics += VariantLints(configuration: loaded.configuration).diagnostics
    }
    diagnostics += LicenseSetup.diagnostics(
      loaded,
      allowsUnset: options.replacesMissingSecrets
    )
    let isValid = !diagnostics.containsErrors
    context.console.report(diagnostics + loaded.notices)
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-check/1",
        "valid": .bool(isValid),
        "diagnostics": .array(
          (diagnostics + loaded.notices).map {
            .diagnostic($0.masked(needles: context.console.needles))
          }
        ),
      ])
    }
    if loaded.hasUsageErrors { return ExitStatus.usage.code }
    return isValid ? ExitStatus.ok.code : ExitStatus.config.code
  }
}
