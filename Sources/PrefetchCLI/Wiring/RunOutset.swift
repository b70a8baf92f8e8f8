import PrefetchConfig

/// What is known of a run before it begins, for reports of one that never does.
final class RunOutset {
  /// As it was read, be it valid or not.
  var configuration: LoadedConfiguration?
  private(set) var engine: EngineOptions?
  private(set) var isPlan = false

  /// A command that ends in a run says so first of all.
  func begin(_ engine: EngineOptions, isPlan: Bool = false) {
    self.engine = engine
    self.isPlan = isPlan
  }
}
