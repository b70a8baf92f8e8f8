package import PrefetchCore

/// Temporary cache for a response that must not replace the stored item; removed with this value.
package final class ScratchCache {
  package let path: String
  private let partial: PartialFolder

  package init(in cache: String) throws(Failure) {
    let folder = try Folder.making(cache + "/" + CacheLayout.partialName)
    partial = PartialFolder(folder, ofCache: cache)
    path = try partial.names().path(of: "cache")
  }
}
