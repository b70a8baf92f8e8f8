/// A fact that reached the run from outside.
package enum Event: Sendable {
  case started
  case transferProgressed(TransferID, bytes: Int64)
  case transferFinished(TransferID, TransferResult)
  case manifestRead(segment: Int, Result<Manifest, Failure>)
  case committed(removed: [RemovedContent])
  case commitFailed(Failure)
  case interrupted(signal: Int32)
  /// Nothing but the passing of time; a wait has ended.
  case timePassed
}

/// Something that somebody else has to do now.
package enum Effect: Sendable {
  case startTransfer(TransferRequest)
  case cancelTransfer(TransferID)
  case readManifest(segment: Int, ManifestSource)
  case commit([StoreChange])
  case discard(StagedBody)
  case announce(RunFact)
}

/// Where the bytes of a manifest are, and what its relative references mean.
package struct ManifestSource: Sendable {
  package enum Bytes: Sendable {
    case staged(StagedBody)
    case stored(ContentDigest)
    case file(String)
  }

  package var bytes: Bytes
  /// Nil for local files without a `base`: then only absolute URLs can be read.
  package var base: WebURL?
  package var mime: String?
  /// For messages: the URL or path as the user knows it.
  package var name: String

  package init(bytes: Bytes, base: WebURL?, mime: String?, name: String) {
    self.bytes = bytes
    self.base = base
    self.mime = mime
    self.name = name
  }
}
