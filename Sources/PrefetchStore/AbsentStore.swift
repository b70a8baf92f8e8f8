package import PrefetchCore

/// An empty stand-in for a cache that does not exist, for dry runs.
package final class AbsentStore: ContentStore {
  package let staging = StagingArea.inMemory()

  private let path: String

  package init(at path: String) {
    self.path = path
  }

  package func segments() throws(Failure) -> [SegmentRecord] {
    []
  }

  package func commit(
    _ changes: [StoreChange],
    within limit: Int64?
  ) throws(Failure) -> [RemovedContent] {
    throw Failure(.internal, "a dry run tried to write")
  }

  package func withObject<Value>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    throw Failure(.storeDamaged, "\(digest) is not stored")
  }

  package func readInventory(of urls: [String]?) throws(Failure) -> Inventory {
    Inventory()
  }

  package func stored(_ items: [Int64]) throws(Failure) -> [(any StoredResponse)?] {
    items.map { _ in nil }
  }

  package func hasUnseenChanges() throws(Failure) -> Bool {
    false
  }

  package func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    []
  }

  package func intactObject(_ digest: ContentDigest) throws(Failure) -> Int64? {
    nil
  }

  package func usedBytes() throws(Failure) -> Int64 {
    0
  }

  package func diskSpace() throws(Failure) -> DiskSpace? {
    DiskSpace(nearest: path)
  }

  package func readStock() throws(Failure) -> Stock {
    Stock()
  }

  package func partials() throws(Failure) -> [String: PartialBody] {
    [:]
  }

  package func varianceKey() throws(Failure) -> VarianceKey {
    VarianceKey()
  }

  package func forgetPartial(_ key: String) {}
}
