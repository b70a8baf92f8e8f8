/// An event that a run receives from outside.
package enum Event: Sendable {
  case started
  /// Other runs use the cache.
  case joined
  indirect case conditionsRead(ConditionsReading)
  case controlled(item: Int, ItemControl)
  /// Received bytes are recorded; the value is the usage of all runs.
  indirect case usageRecorded(TransferUsage)
  case memoryFailed(Failure)
  case networkLost
  case transferProgressed(TransferID, TransferAdvance)
  case transferFinished(TransferID, TransferResult)
  case transferJudged(TransferID, Outcome)
  case connectionsFound(String, Int)
  indirect case documentRead(Int, Result<Manifest, Failure>)
  /// Whether this run may request a document, and the newest record that any run has of it.
  indirect case documentFound(Int, isGranted: Bool, DocumentRecord?)
  indirect case bundleRead(Int, Result<BundleReading, Failure>)
  case textsStaged(Int, Result<[StagedBody], Failure>)
  indirect case inventoryRead(Result<InventoryFacts, Failure>)
  case planningResumed(segment: Int)
  case prepared([Prepared])
  case removalsRead([ContentRecord?])
  indirect case roomMeasured(RoomReading)
  indirect case published(segment: Int, TreeOutcome)
  /// Outcome of the last publication; nil if the tree must be inspected.
  indirect case treeFound(segment: Int, TreeOutcome?)
  indirect case committed(removed: [RemovedContent], RoomReading)
  case commitFailed(Failure)
  /// The store refused the changes for want of room; they may be sent again after a reading.
  case commitRefused
  case interrupted(signal: Int32)
  case timePassed
}

/// An action that the loop performs for the run.
package enum Effect: Sendable {
  /// Reads network and power conditions, and the remembered usage unless `hasMemory`.
  case readConditions(Set<NetworkConditions.Aspect>, hasMemory: Bool)
  indirect case record(NetworkMemory)
  indirect case startTransfer(TransferRequest)
  case startOrder(TransferID, Order)
  case cancelTransfer(TransferID)
  /// Stops a transfer and keeps the received part of its body.
  case interruptTransfer(TransferID)
  indirect case readDocument(Int, ManifestSource)
  case readBundle(Int, [BundleDocument], BundleRules)
  case stageTexts(Int, [BundleText])
  /// Reads the inventory of the cache; sent once, and only if something must be looked up.
  case readInventory
  /// Returns to a segment after other events, so that a million items are not one event.
  case resumePlanning(segment: Int)
  case claim([String])
  case release([String])
  /// Looks up the newest record of a document, and claims the document if `isClaim`.
  case findDocument(Int, url: String, requestHash: UInt64, isClaim: Bool)
  case prepare([Preparation])
  /// Measures the room; `inDetail` also counts the bodies that may be evicted.
  case measureRoom(inDetail: Bool)
  /// Reads the records, by row number, that a dry run would remove.
  case readRemovals([Int64])
  case commit([StoreChange])
  indirect case publish(segment: Int, TreePlan)
  indirect case findTree(segment: Int, SegmentKey, PublishingRules)
  case discard(StagedBody)
  case share([OriginResponse])
  case forgetPartial(String)
  case announce(RunFact)
}

/// Inventory of the cache, and the digests of bodies whose files are missing.
package struct InventoryFacts: Sendable {
  package var inventory: Inventory
  package var missing: Set<ContentDigest>

  package init(inventory: Inventory, missing: Set<ContentDigest>) {
    self.inventory = inventory
    self.missing = missing
  }
}

/// Facts to read for an item before its first request.
package struct Preparation: Hashable, Sendable {
  package var item: Int
  package var record: Int64?
  package var digest: ContentDigest?
  package var claimed: String?
  package var lost: [ExpectedDigest] = []
  package var adoptable: AdoptableFile?
}

/// Measured size of the cache and free space of the disk.
package struct RoomReading: Sendable {
  package var used: Int64?
  /// Data version of the index; changes when other processes write.
  package var version: Int64?
  package var disk: DiskSpace?
  package var stock: Stock?

  package init(used: Int64? = nil, disk: DiskSpace? = nil, stock: Stock? = nil) {
    self.used = used
    self.disk = disk
    self.stock = stock
  }
}

package struct Prepared: Sendable {
  package var item: Int
  package var stored: (any StoredResponse)?
  /// Size of the stored body with the declared digest; nil if there is none.
  package var adoptedSize: Int64?
  package var found: FoundBody?
  /// Why the user's file could not be read; publishing would call it a file of others.
  package var adoptionFailure: Failure?
  package var isClaimed: Bool?
  package var partial: PartialBody?

  package init(item: Int, stored: (any StoredResponse)?, adoptedSize: Int64?) {
    self.item = item
    self.stored = stored
    self.adoptedSize = adoptedSize
  }
}

/// Place of a manifest's bytes, and the context for reading them.
package struct ManifestSource: Sendable {
  package enum Bytes: Hashable, Sendable {
    case staged(StagedBody)
    case stored(ContentDigest)
    case file(String)
    case nothing
  }

  package var bytes: Bytes
  /// Base of relative references; nil for a local file without `base`: absolute URLs only.
  package var base: WebURL?
  package var requestedURL: WebURL?
  package var address: WebURL?
  /// Facts about the next page of a list that has pages; nil for a local file.
  package var page: PageHint?
  package var mime: String?
  /// URL or path for messages, as the user knows it.
  package var name: String
  package var rules: ManifestRules
  /// Limit in bytes, before and after unpacking.
  package var maximumSize: Int64 = 512 << 20
  package var documentRole: FurtherDocument.Role?
  package var proof: SignatureDemand?

  package init(
    bytes: Bytes,
    base: WebURL?,
    mime: String?,
    name: String,
    rules: ManifestRules = ManifestRules()
  ) {
    self.bytes = bytes
    self.base = base
    self.mime = mime
    self.name = name
    self.rules = rules
  }
}

/// A required signature, and the keys that may have made it.
package struct SignatureDemand: Sendable {
  package var bytes: ManifestSource.Bytes
  package var name: String
  package var keys: [String]
  package var fileName: String

  /// Limit in bytes for a signature file, which has a few lines.
  package static let sizeLimit: Int64 = 64 << 10
  package static let suffix = ".minisig"
}

extension SignatureDemand {
  package init(ofFile path: String, keys: [String]) {
    let name = path + Self.suffix
    let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    self.init(bytes: .file(name), name: name, keys: keys, fileName: String(last))
  }
}
