import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// Builds requests, narrowed by the publisher's policy if `looksAtState` finds one.
  func builder(
    _ loaded: LoadedConfiguration,
    _ engine: EngineOptions = EngineOptions(),
    looksAtState: Bool = true
  ) -> RequestBuilder {
    var builder = RequestBuilder(
      configuration: loaded.configuration,
      identity: loaded.identity,
      engine: engine,
      environment: environment.variables
    )
    builder.netrc = netrc(loaded.configuration)
    if looksAtState, LicenseSetup(loaded) != nil, let locations = try? locations(loaded) {
      var reports: [Diagnostic] = []
      let state = try? StateStore.openForReading(state: locations.state, reports: &reports)
      builder.publisher = publisherPolicy(loaded, in: state)
    }
    return builder
  }

  /// Returns the policy of the remembered grant; nil if the state cannot be read.
  func publisherPolicy(_ loaded: LoadedConfiguration, in state: StateStore?) -> PublisherPolicy? {
    guard let setup = LicenseSetup(loaded),
      let grant = (try? state?.registration(setup.stateKey))?.grant,
      grant.isValid(at: clock.now().wall)
    else { return nil }
    return PublisherPolicy(of: grant)
  }
}

extension PublisherPolicy {
  init?(of grant: RegistrationRecord.Grant) {
    guard let text = grant.policy, let policy = try? PublisherPolicy(json: text) else { return nil }
    self = policy
  }
}

/// Facts by which single items are judged as in a run.
extension CommandContext {
  func facts(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ locations: CacheLocations,
    _ store: DiskStore?
  ) throws(CommandExit) -> Planner.Facts {
    Planner.Facts(
      inventory: Inventory(),
      missing: [],
      policy: builder.policy,
      now: clock.now().wall,
      credentials: credentials(loaded, builder, locations),
      key: try reading { () throws(Failure) in try store?.varianceKey() ?? VarianceKey() }
    )
  }

  /// Returns credentials of the registered license; nil if the state cannot be read.
  func credentials(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ locations: CacheLocations
  ) -> Shared<OriginCredentials>? {
    license(loaded, builder, locations).credentials
  }

  /// Returns the registration as the last run left it; single items cause no new one.
  func license(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ locations: CacheLocations
  ) -> LicenseStatus {
    guard LicenseSetup(loaded) != nil else { return .none }
    var reports: [Diagnostic] = []
    let state = try? StateStore.openForReading(state: locations.state, reports: &reports)
    let registrar = Registrar(context: self, loaded: loaded, builder: builder)
    return (try? registrar.remembered(state)) ?? .none
  }
}
