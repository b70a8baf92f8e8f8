/// A document of an item of several files that is at hand.
package struct BundleDocument: Sendable {
  package var url: WebURL
  /// What its relative references are relative to.
  package var base: WebURL
  package var bytes: ManifestSource.Bytes
  /// Earlier editions of it, of which files are here.
  package var earlier: [ContentDigest] = []
}

/// What the documents of an item say, as far as they are at hand.
package struct BundleReading: Hashable, Sendable {
  /// Further documents that are needed; nothing else is known without them.
  package var documents: [BundleRequest] = []
  package var parts: [BundlePart] = []
  /// Which of them is opened first; nil where that is the first text.
  package var mainPart: Int?
  /// What is made of the documents, the one that is opened first before the others.
  package var texts: [BundleText] = []
  /// Whether the item goes on where these end.
  package var isPartial = false
  package var seconds = 0.0
  /// Whether it is there in several qualities.
  package var hasChoice = false
  /// Of a stream, which quality was taken; nil where that is for the rules to say.
  package var quality: BundleRules.Quality?
  /// Of a stream, what `variant: auto` has chosen.
  package var choice: AutomaticVariant.Choice?
  /// Count of the end cards of ads that are pages and are not kept.
  package var htmlCards = 0
  /// What all of it may come to, where the documents say how much a second takes.
  package var expectedBytes: Int64?

  package init() {}
}

/// A document that is needed, and where it is as well.
package struct BundleRequest: Hashable, Sendable {
  package var url: WebURL
  package var alternates: [WebURL]
  /// Of an item that would be this document alone.
  package var type: String

  package init(url: WebURL, alternates: [WebURL], type: String) {
    self.url = url
    self.alternates = alternates
    self.type = type
  }
}

/// A file that an item needs besides its documents.
package struct BundlePart: Hashable, Sendable {
  package var url: WebURL
  package var role: BundleFile.Role
  /// Of an item that would be this file alone.
  package var type: String?
  /// Below the item's own name.
  package var name: String
  /// As many of its first bytes as are asked for; nil for all.
  package var prefix: Int64?
  /// How many it must have.
  package var needed: Int64?
  /// Whether ranges of it are used, and not all of it at once.
  package var isRanged = false
  package var isEncrypted = false
  /// Whether what is here of it may be of another edition, so that its server is asked.
  package var isInDoubt = false
  /// Other places of the same bytes.
  package var alternates: [WebURL] = []

  package init(url: WebURL, role: BundleFile.Role, name: String) {
    self.url = url
    self.role = role
    self.name = name
    type = role == .extra ? "image" : "video"
  }
}

/// A document made here, for players.
package struct BundleText: Hashable, Sendable {
  package var name: String
  package var bytes: [UInt8]
  package var mime: String

  package static let playlistType = "application/vnd.apple.mpegurl"

  package var isPlaylist: Bool { mime == Self.playlistType }

  package init(name: String, bytes: [UInt8], mime: String) {
    self.name = name
    self.bytes = bytes
    self.mime = mime
  }
}
