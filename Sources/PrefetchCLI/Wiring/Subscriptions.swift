import PrefetchConfig
import PrefetchCore
import PrefetchStore

/// Segments that count: all declared ones, or the stored subscriptions.
struct Subscriptions {
  var segments: [Segment]
  var missing: [String]
  /// Warning that subscriptions were restored from the cache.
  var warnings: [Diagnostic] = []

  static func key(_ loaded: LoadedConfiguration) -> SubscriptionKey {
    SubscriptionKey(
      identity: loaded.identity,
      licenseFingerprint: LicenseSetup.fingerprint(of: loaded.configuration.license)
    )
  }

  /// Resolves subscriptions; `state` is nil if none is stored and nothing may be written.
  ///
  /// If the state has lost this configuration, segments in the cache's index count as subscribed;
  /// no process may have that index open for writing here.
  static func resolve(
    _ loaded: LoadedConfiguration,
    state: StateStore?,
    cache: String,
    mayWrite: Bool
  ) throws(Failure) -> Subscriptions {
    let declared = loaded.configuration.segments
    guard loaded.configuration.subscriptions == .remembered else {
      return Subscriptions(segments: declared, missing: [])
    }
    // Initial segments are joined on the first run of a license; if none is marked, all are.
    let marked = declared.filter(\.isInitial)
    var initial = Set((marked.isEmpty ? declared : marked).map(\.name))
    let key = key(loaded)
    var warnings: [Diagnostic] = []
    if try !(state?.hasSubscriptions(of: loaded.identity) ?? false) {
      let stored = try storedSegments(of: loaded.identity, in: cache)
      if !stored.isEmpty {
        initial = stored
        warnings = [warning(of: stored)]
      }
    }
    let remembered: Set<String>
    if mayWrite, let state {
      remembered = try state.initialiseSubscriptions(key, declared: initial)
    } else {
      remembered = try state?.subscriptions(key) ?? initial
    }
    return Subscriptions(
      segments: declared.filter { remembered.contains($0.name) } + undeclared(remembered, loaded),
      missing: declared.map(\.name).filter { !remembered.contains($0) },
      warnings: warnings
    )
  }

  private static func storedSegments(
    of identity: String,
    in cache: String
  ) throws(Failure) -> Set<String> {
    do throws(Failure) {
      // Nothing is expired here, so the clock does not matter.
      let store = try DiskStore.openForReading(cache: cache, clockStart: Instant(milliseconds: 0))
      let records = try store?.segments() ?? []
      return Set(
        records.lazy.filter { $0.key.identity == identity && $0.state != .unsubscribed }
          .map(\.key.name)
      )
    } catch {
      // A damaged index without a copy names no segments; the next writer creates a new one.
      guard error.code == .storeDamaged else { throw error }
      return []
    }
  }

  private static func warning(of segments: Set<String>) -> Diagnostic {
    let names = segments.sorted().map { "`\(SafeText.line($0))`" }.joined(separator: ", ")
    return Diagnostic(
      "state.no-subscriptions",
      "this configuration has no stored subscriptions (its state may be lost): "
        + "segments in the cache count as subscribed (\(names))",
      severity: .warning,
      hint: "`prefetch unsubscribe NAME` leaves a segment"
    )
  }

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
