import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import PrefetchSystem

struct CheckCommand: Command {
  let context: CommandContext
  let options: CheckOptions

  func run() -> Int32 {
    let loaded = context.loadConfiguration(
      isRequired: true,
      needsSources: true,
      allowsUnsetSecrets: options.replacesMissingSecrets
    )
    if let signal = StopSignals.pending { return 128 + signal }
    let now = context.clock.now().wall
    var diagnostics = loaded.diagnostics
    var newer: [Diagnostic] = []
    for number in diagnostics.indices
    where diagnostics[number].code == LoadedConfiguration.tinyCacheCode {
      diagnostics[number].severity = .warning
    }
    if !loaded.hasErrors {
      diagnostics += loaded.expiryDiagnostics(at: now, expired: .error) + loaded.securityLints
      diagnostics += loaded.pointlessSeconds
      let locations = CacheLocations.resolve(
        shared: context.shared,
        configuration: loaded.configuration,
        environment: context.environment
      )
      newer = locations?.objectionsToNewer ?? []
      diagnostics += HookTrust.diagnostics(loaded)
      diagnostics += LibraryLints(configuration: loaded.configuration).diagnostics
      diagnostics +=
        ProxyLints(
          configuration: loaded.configuration,
          environment: context.environment.variables
        ).diagnostics
      diagnostics += PublishingSetup.diagnostics(loaded, locations)
      diagnostics += locations?.lowerDiagnostics(loaded.configuration.cache.lower) ?? []
      let builder = context.builder(loaded)
      diagnostics += PlainHTTPLints(loaded: loaded, policy: builder.policy, now: now).diagnostics
      diagnostics += loaded.configuration.segments.compactMap { segment in
        ManifestReader.objection(to: builder.declaration(segment).manifestRules).map {
          Diagnostic(
            "config.unknown-value",
            "segment `\(segment.name)`: \($0.message)",
            file: loaded.files.first
          )
        }
      }
      diagnostics += LayoutLints(loaded: loaded, builder: builder).diagnostics
      StopSignals.beginReading()
      diagnostics +=
        LocalListLints(
          loaded: loaded,
          builder: builder,
          now: now,
          mayBeMissing: options.replacesMissingSecrets
        ).diagnostics
      StopSignals.endReading()
      diagnostics += context.lockfileDiagnostics(loaded)
      diagnostics += VariantLints(configuration: loaded.configuration).diagnostics
    }
    diagnostics += LicenseSetup.diagnostics(
      loaded,
      allowsUnset: options.replacesMissingSecrets
    )
    for number in diagnostics.indices
    where diagnostics[number].code == "config.unset-variable" {
      let step = "`--no-secrets` checks without it, and only commands that ask servers need it"
      diagnostics[number].hint = diagnostics[number].hint.map { "\($0); \(step)" } ?? step
    }
    let isValid = !diagnostics.containsErrors
    diagnostics += newer
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
    guard isValid else { return ExitStatus.config.code }
    return newer.isEmpty ? ExitStatus.ok.code : ExitStatus.io.code
  }
}
