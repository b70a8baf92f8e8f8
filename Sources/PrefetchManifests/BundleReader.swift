package import PrefetchCore

/// A document of an item of several files, with what stands in it.
package struct BundleContent: Sendable {
  package var url: WebURL
  /// What its relative references are relative to.
  package var base: WebURL
  package var bytes: [UInt8]
  /// Earlier editions of it, of which files are here; nil for one that cannot be read any more.
  package var earlier: [[UInt8]?]

  package init(url: WebURL, base: WebURL, bytes: [UInt8], earlier: [[UInt8]?] = []) {
    self.url = url
    self.base = base
    self.bytes = bytes
    self.earlier = earlier
  }
}

/// What the documents of an item say, and what is made of them for players.
package enum BundleReader {
  /// The first of the documents is the item's own.
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
    reading.parts = layout.parts
    reading.texts = try layout.texts()
    reading.isPartial = layout.isPartial
    reading.seconds = layout.seconds
    reading.hasChoice = layout.hasChoice
    reading.expectedBytes = layout.expectedBytes
    return reading
  }
}
