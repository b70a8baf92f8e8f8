import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

extension CommandContext {
  /// What turns a configuration into requests, narrowed by what its publisher asks for.
  ///
  /// A caller that has the state open says what stands there by itself.
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
    if looksAtState, LicenseSetup(loaded) != nil, let places = try? places(loaded) {
      var reports: [Diagnostic] = []
      let state = try? StateStore.openForReading(state: places.state, reports: &reports)
      builder.publisher = publisherPolicy(loaded, in: state)
    }
    return builder
  }

  /// Of the grant that is remembered; a state that cannot be read is none.
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
