import PrefetchConfig
import PrefetchCore
import PrefetchStore

/// Which of the declared segments count: all of them, or those that were joined and are remembered.
struct Subscriptions {
  /// The segments to keep, in the order of the configuration.
  var segments: [Segment]
  /// Declared in the file, not joined.
  var missing: [String]

  static func key(_ loaded: LoadedConfiguration) -> SubscriptionKey {
    SubscriptionKey(
      identity: loaded.identity,
      licenseFingerprint: LicenseSetup.fingerprint(of: loaded.configuration.license)
    )
  }

  /// `state` is nil where nothing may be written and nothing was remembered yet.
  static func resolve(
    _ loaded: LoadedConfiguration,
    state: StateStore?,
    mayWrite: Bool
  ) throws(Failure) -> Subscriptions {
    let declared = loaded.configuration.segments
    guard loaded.configuration.subscriptions == .remembered else {
      return Subscriptions(segments: declared, missing: [])
    }
    // A segment is joined on the first run of a license; with none marked, the first run joins all.
    let marked = declared.filter(\.isInitial)
    let initial = Set((marked.isEmpty ? declared : marked).map(\.name))
    let key = key(loaded)
    let remembered: Set<String>
    if mayWrite, let state {
      remembered = try state.initialiseSubscriptions(key, declared: initial)
    } else {
      remembered = try state?.subscriptions(key) ?? initial
    }
    return Subscriptions(
      segments: declared.filter { remembered.contains($0.name) } + undeclared(remembered, loaded),
      missing: declared.map(\.name).filter { !remembered.contains($0) }
    )
  }

  /// Joined by command, not named in the file: found by the manifest template, if there is one.
  private static func undeclared(
    _ remembered: Set<String>,
    _ loaded: LoadedConfiguration
  ) -> [Segment] {
    let declared = Set(loaded.configuration.segments.map(\.name))
    return remembered.subtracting(declared).sorted().compactMap { name in
      loaded.configuration.templatedSegment(named: name)
    }
  }
}
