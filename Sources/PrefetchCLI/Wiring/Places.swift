import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Where the cache and the state are, by the first that says so.
struct Places {
  var cache: String
  var state: String
  /// Whether a cache on a network file system is used by one process at a time.
  var isUsedAlone = false
  /// Whether its folders may belong to others, and are made readable for them.
  var isShared = false
  /// Whether no setting says where the cache is, so that every configuration's is there.
  var isDefault = false
  /// The caches below it; nil where no configuration says which, so that those count that the last run
  /// had.
  var lower: LowerCaches?

  /// Where bodies lie, as far as the configuration says so.
  var bodies: BodyPaths {
    BodyPaths(cache: cache, lower: lower?.paths ?? [])
  }

  /// Of a cache or state that a newer version has made, which every run refuses.
  var objectionsToNewer: [Diagnostic] {
    let objections = [
      DiskStore.objectionToNewer(cache: cache), StateStore.objectionToNewer(state: state),
    ]
    return objections.compactMap { failure in
      failure.map { Diagnostic("store.\($0.code.rawValue)", $0.message) }
    }
  }

  /// A cache cannot be read only and written.
  func lowerDiagnostics(_ lower: [String]) -> [Diagnostic] {
    let own = FileReading.realPath(cache) ?? cache
    return lower.filter { (FileReading.realPath($0) ?? $0) == own }.map { twin in
      Diagnostic(
        "config.lower",
        "`\(SafeText.line(twin))` is the cache itself and cannot be below it",
        hint: "`cache.lower` names other caches, which are read and never written"
      )
    }
  }

  /// Options and configuration, then what a service manager gives, then the user's own folders.
  static func resolve(
    shared: SharedOptions,
    configuration: Configuration?,
    environment: ProcessEnvironment
  ) -> Places? {
    let home = environment.homeDirectory
    let variables = environment.variables
    let absolute: (String) -> String = {
      $0.hasPrefix("/") ? $0 : "\(environment.currentDirectory)/\($0)"
    }
    let nonEmpty: (String?) -> String? = { $0.flatMap { $0.isEmpty ? nil : $0 } }
    let cache =
      shared.cacheDirectory ?? configuration?.cache.folder
      ?? nonEmpty(variables["CACHE_DIRECTORY"]).map(first)
      ?? nonEmpty(variables["XDG_CACHE_HOME"]).map { "\($0)/prefetch" }
      ?? home.map { "\($0)/.cache/prefetch" }
    let state =
      shared.stateDirectory ?? configuration?.cache.stateFolder
      ?? nonEmpty(variables["STATE_DIRECTORY"]).map(first)
      ?? nonEmpty(variables["XDG_STATE_HOME"]).map { "\($0)/prefetch" }
      ?? home.map { "\($0)/.local/state/prefetch" }
    guard let cache, let state else { return nil }
    var places = Places(cache: absolute(cache), state: absolute(state))
    places.isUsedAlone = configuration?.cache.isUsedAlone ?? false
    places.isShared = configuration?.cache.isShared ?? false
    places.isDefault =
      shared.cacheDirectory == nil && configuration?.cache.folder == nil
      && nonEmpty(variables["CACHE_DIRECTORY"]) == nil
    return places
  }

  /// A service manager may give several folders, joined by colons.
  private static func first(_ list: String) -> String {
    String(list.prefix { $0 != ":" })
  }
}
