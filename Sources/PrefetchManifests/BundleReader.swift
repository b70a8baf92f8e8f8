package import PrefetchCore

/// Bytes of one document of a multi-file item: an HLS playlist or a VAST document.
package struct BundleContent: Sendable {
  package var url: WebURL
  package var base: WebURL
  package var bytes: [UInt8]
  /// Earlier editions of the document whose pieces are stored; nil for an unreadable edition.
  package var earlier: [[UInt8]?]

  package init(url: WebURL, base: WebURL, bytes: [UInt8], earlier: [[UInt8]?] = []) {
    self.url = url
    self.base = base
    self.bytes = bytes
    self.earlier = earlier
  }
}

/// Reads the documents of a multi-file item: an HLS stream or an ad.
package enum BundleReader {
  /// Returns what to request next and the texts for players; the first document is the item's own.
  package static func read(
    _ documents: [BundleContent],
    _ rules: BundleRules
  ) throws(Failure) -> BundleReading {
    if rules.form == .ad { return try AdLayout(documents, rules).reading }
    let layout = try StreamLayout(documents, rules)
    var reading = BundleReading()
    reading.documents = layout.missing
    reading.quality = layout.quality
    reading.choice = layout.automaticChoice
    guard reading.documents.isEmpty else { return reading }
    reading.pieces = layout.pieces
    reading.texts = try layout.texts()
    reading.isPartial = layout.isPartial
    reading.seconds = layout.seconds
    reading.hasChoice = layout.hasChoice
    reading.expectedBytes = layout.expectedBytes
    return reading
  }
}
