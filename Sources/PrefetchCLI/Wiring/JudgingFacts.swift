import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// What single items are judged by, as a run would judge them.
extension CommandContext {
  func facts(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ places: Places,
    _ store: DiskStore?
  ) throws(CommandExit) -> Planner.Facts {
    Planner.Facts(
      inventory: Inventory(),
      missing: [],
      policy: builder.policy,
      now: clock.now().wall,
      credentials: credentials(loaded, builder, places),
      key: try reading { () throws(Failure) in try store?.varianceKey() ?? VarianceKey() }
    )
  }

  /// Of the registered license; a state that cannot be read is none.
  func credentials(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ places: Places
  ) -> Shared<OriginCredentials>? {
    license(loaded, builder, places).credentials
  }

  /// What the last run left of the registration: single items are no occasion for a new one.
  func license(
    _ loaded: LoadedConfiguration,
    _ builder: RequestBuilder,
    _ places: Places
  ) -> LicenseStanding {
    var reports: [Diagnostic] = []
    let state = try? StateStore.openForReading(state: places.state, reports: &reports)
    let registrar = Registrar(context: self, loaded: loaded, builder: builder)
    return (try? registrar.remembered(state)) ?? .none
  }
}
