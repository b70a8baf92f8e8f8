package import PrefetchCore

extension DiskStore {
  package func takeInventory() throws(Failure) -> Inventory {
    throw Failure(.internal, "not yet")
  }

  package func records(_ items: [Int64]) throws(Failure) -> [ContentRecord?] {
    throw Failure(.internal, "not yet")
  }

  package func hasUnseenChanges() throws(Failure) -> Bool {
    throw Failure(.internal, "not yet")
  }

  package func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    throw Failure(.internal, "not yet")
  }

  package func adoptable(_ digest: ContentDigest) throws(Failure) -> Int64? {
    throw Failure(.internal, "not yet")
  }
}
