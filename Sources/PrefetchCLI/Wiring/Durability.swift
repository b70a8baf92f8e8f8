import PrefetchConfig
import PrefetchStore

extension Durability {
  /// What the configuration asks for, in the store's words.
  init(_ configured: Cache.Durability) {
    self =
      switch configured {
      case .none: .none
      case .batch: .batch
      case .each: .each
      }
  }
}
