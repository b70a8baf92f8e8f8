package import PrefetchCore

/// A cache within another one, for an answer that goes out and must not take the place of what is
/// stored there; it goes with this value.
package final class PassingCache {
  package let path: String
  private let partial: PartialFolder

  package init(in cache: String) throws(Failure) {
    let folder = try Folder.making(cache + "/" + CacheLayout.partialName)
    partial = PartialFolder(folder, ofCache: cache)
    path = try partial.names().path(of: "cache")
  }
}
