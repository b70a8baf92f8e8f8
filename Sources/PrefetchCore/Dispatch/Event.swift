/// A fact that reached the run from outside.
package enum Event: Sendable {
  case started
  /// Other runs are at work on the cache.
  case joined
  indirect case conditionsRead(ConditionsReading)
  /// A person has said something of an item that is under way.
  case controlled(item: Int, ItemControl)
  /// What came is in the books, which hold so much of all runs now.
  indirect case booked(TransferUsage)
  /// What came could not be booked.
  case memoryFailed(Failure)
  /// No route leads out of this machine.
  case networkLost
  case transferProgressed(TransferID, TransferAdvance)
  case transferFinished(TransferID, TransferResult)
  case transferJudged(TransferID, Outcome)
  case documentRead(Int, Result<Manifest, Failure>)
  /// Whether a document is ours to ask for, and what some run was given last.
  indirect case documentFound(Int, isOurs: Bool, DocumentRecord?)
  /// What the documents of an item of several files say.
  indirect case bundleRead(Int, Result<BundleReading, Failure>)
  /// What is made of them for players is ready to be stored.
  case textsStaged(Int, Result<[StagedBody], Failure>)
  case inventoryTaken(Result<InventoryFacts, Failure>)
  /// The effect of the same name came back: other work has had its turn.
  case planningResumed(segment: Int)
  case prepared([Prepared])
  case removalsRead([ContentRecord?])
  indirect case roomMeasured(RoomReading)
  indirect case published(segment: Int, TreeOutcome)
  /// Nil where the tree has to be looked at.
  indirect case treeFound(segment: Int, TreeOutcome?)
  indirect case committed(removed: [RemovedContent], RoomReading)
  case commitFailed(Failure)
  /// The same changes may be given again, once it is known what there is room for.
  case commitRefused
  case interrupted(signal: Int32)
  /// Nothing but the passing of time; a wait has ended.
  case timePassed
}

/// Something that the loop has to do now.
package enum Effect: Sendable {
  /// Find out how network and power stand, and unless it is known already what is remembered.
  case readConditions(Set<NetworkConditions.Aspect>, hasMemory: Bool)
  /// Keep for good what was received.
  indirect case record(NetworkMemory)
  indirect case startTransfer(TransferRequest)
  case startOrder(TransferID, Order)
  case cancelTransfer(TransferID)
  /// Give it up, and keep whatever has come of its body.
  case interruptTransfer(TransferID)
  /// Read one of a segment's documents, whose number it is.
  indirect case readDocument(Int, ManifestSource)
  /// Read the documents of an item of several files.
  case readBundle(Int, [BundleDocument], BundleRules)
  /// Make bodies of what is made here.
  case stageTexts(Int, [BundleText])
  /// Gather what the cache holds; asked for once, and only when something has to be looked up.
  case takeInventory
  /// Come back with the segment, so that a million items are no single event.
  case resumePlanning(segment: Int)
  /// Keep what is under way from other runs, which have come.
  case claim([String])
  /// It is not under way any more.
  case release([String])
  /// Find out what any run was given for a document, and keep it from others if that is said.
  case findDocument(Int, url: String, asked: UInt64, isClaim: Bool)
  /// Read what items need before they go on the wire.
  case prepare([Preparation])
  /// Find out how much room there is, and `inDetail` what may go for more.
  case measureRoom(inDetail: Bool)
  /// Read the records that a dry run would remove.
  case readRemovals([Int64])
  case commit([StoreChange])
  /// Make a segment's published tree equal to the plan.
  indirect case publish(segment: Int, TreePlan)
  /// Find out whether a segment's tree stands as it was published last.
  indirect case findTree(segment: Int, SegmentKey, PublishingRules)
  case discard(StagedBody)
  /// Leave for other machines what is stored here now.
  case share([OriginAnswer])
  /// Drop what was kept of a body that is not wanted any more.
  case forgetPartial(String)
  case announce(RunFact)
}

/// What the cache holds, and what of it is gone.
package struct InventoryFacts: Sendable {
  package var inventory: Inventory
  package var missing: Set<ContentDigest>

  package init(inventory: Inventory, missing: Set<ContentDigest>) {
    self.inventory = inventory
    self.missing = missing
  }
}

/// What an item needs to know before its first request.
package struct Preparation: Hashable, Sendable {
  package var item: Int
  /// The number of its record.
  package var record: Int64?
  /// A declared digest under which an object may be stored already.
  package var digest: ContentDigest?
  /// The URL that no other run may ask for meanwhile, where there are others.
  package var claimed: String?
  /// Declared digests by which an object is looked for that a lost index named.
  package var lost: [ExpectedDigest] = []
  /// A file of the user's that may be the body.
  package var adoptable: AdoptableFile?
}

/// How much the cache takes, and how much more the disk has.
package struct RoomReading: Sendable {
  /// Nil where no limit asks for it.
  package var used: Int64?
  /// Another one than before where others have written since.
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
  package var stored: (any StoredAnswer)?
  /// The size of a whole object with the declared digest.
  package var adoptedSize: Int64?
  /// The body that was found under another digest, or among the user's files.
  package var found: FoundBody?
  /// Whether it is ours to ask for, where that had to be found out.
  package var isClaimed: Bool?
  /// What is here of its body, where another run may have left it.
  package var partial: PartialBody?

  package init(item: Int, stored: (any StoredAnswer)?, adoptedSize: Int64?) {
    self.item = item
    self.stored = stored
    self.adoptedSize = adoptedSize
  }
}

/// Where the bytes of a manifest are, and what its relative references mean.
package struct ManifestSource: Sendable {
  package enum Bytes: Hashable, Sendable {
    case staged(StagedBody)
    case stored(ContentDigest)
    case file(String)
    /// No server had it.
    case nothing
  }

  package var bytes: Bytes
  /// Nil for local files without a `base`: then only absolute URLs can be read.
  package var base: WebURL?
  /// The address that was asked, where `base` is the one that redirects led to; nil where `base` was
  /// declared.
  package var asked: WebURL?
  /// Where it came from in the end; nil for what is no server's.
  package var address: WebURL?
  package var mime: String?
  /// For messages: the URL or path as the user knows it.
  package var name: String
  package var rules: ManifestRules
  /// Of its bytes, also unpacked.
  package var maximumSize: Int64 = 512 << 20
  /// Where it is no manifest by itself, but belongs to one.
  package var part: ManifestPart.Role?
  /// What has to be proved before anything of it is read.
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

/// A signature that a document needs, and whose it may be.
package struct SignatureDemand: Sendable {
  package var bytes: ManifestSource.Bytes
  /// For messages: the URL or path as the user knows it.
  package var name: String
  /// Public keys, of which one must have signed.
  package var keys: [String]
  /// The name under which the document must have been signed, should the signature tell one.
  package var fileName: String

  /// What a file of signatures may have, which is a few lines.
  package static let sizeLimit: Int64 = 64 << 10
  package static let suffix = ".minisig"
}

extension SignatureDemand {
  /// Of a local document, with its signature beside it.
  package init(ofFile path: String, keys: [String]) {
    let name = path + Self.suffix
    let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    self.init(bytes: .file(name), name: name, keys: keys, fileName: String(last))
  }
}
