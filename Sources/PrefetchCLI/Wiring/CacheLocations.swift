import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Folders of cache and state, from the first source that names them.
struct CacheLocations {
  var cache: String
  var state: String
  /// Whether a cache on a network file system is used by one process at a time.
  var isUsedAlone = false
  /// Whether folders may belong to other users, and are made readable for them.
  var isShared = false
  /// Whether the cache is the default one, which all configurations share.
  var isDefault = false
  /// Lower caches; nil without a configuration, where the last run's count.
  var lower: LowerCaches?

  var bodies: BodyPaths {
    BodyPaths(cache: cache, lower: lower?.paths ?? [])
  }

  /// Errors for a cache or state of a newer version, which every run refuses.
  var objectionsToNewer: [Diagnostic] {
    let objections = [
      DiskStore.objectionToNewer(cache: cache), StateStore.objectionToNewer(state: state),
    ]
    return objections.compactMap { failure in
      failure.map { Diagnostic("store.\($0.code.rawValue)", $0.message) }
    }
  }

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

  /// Resolves options and configuration, then a service manager's variables, then user folders.
  static func resolve(
    shared: SharedOptions,
    configuration: Configuration?,
    environment: ProcessEnvironment
  ) -> CacheLocations? {
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
    var locations = CacheLocations(cache: absolute(cache), state: absolute(state))
    locations.isUsedAlone = configuration?.cache.isUsedAlone ?? false
    locations.isShared = configuration?.cache.isShared ?? false
    locations.isDefault =
      shared.cacheDirectory == nil && configuration?.cache.folder == nil
      && nonEmpty(variables["CACHE_DIRECTORY"]) == nil
    return locations
  }

  /// Returns the first of several folders, which a service manager joins by colons.
  private static func first(_ list: String) -> String {
    String(list.prefix { $0 != ":" })
  }
}
