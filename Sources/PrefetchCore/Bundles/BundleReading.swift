package struct BundleDocument: Sendable {
  package var url: WebURL
  package var base: WebURL
  package var bytes: ManifestSource.Bytes
  /// Digests of earlier editions with stored files.
  package var earlier: [ContentDigest] = []
}

/// Content of the documents of an item, as far as these are here.
package struct BundleReading: Hashable, Sendable {
  /// Further documents that are needed before anything else is known.
  package var documents: [BundleRequest] = []
  package var pieces: [BundlePiece] = []
  /// Index of the part to open first; nil to open the first text.
  package var mainPiece: Int?
  package var texts: [BundleText] = []
  package var isPartial = false
  package var seconds = 0.0
  package var hasChoice = false
  /// Quality of a stream that was taken; nil if the rules decide.
  package var quality: BundleRules.Quality?
  package var choice: AutomaticVariant.Choice?
  /// Number of the ads' end cards that are web pages, which are not kept.
  package var htmlCards = 0
  package var expectedBytes: Int64?

  package init() {}
}

package struct BundleRequest: Hashable, Sendable {
  package var url: WebURL
  package var alternates: [WebURL]
  package var type: String

  package init(url: WebURL, alternates: [WebURL], type: String) {
    self.url = url
    self.alternates = alternates
    self.type = type
  }
}

/// A file that an item needs, other than its documents.
package struct BundlePiece: Hashable, Sendable {
  package var url: WebURL
  package var role: BundleFile.Role
  package var type: String?
  package var name: String
  package var prefix: Int64?
  package var needed: Int64?
  package var isRanged = false
  package var isEncrypted = false
  /// Whether the stored file may be of another edition, and must be revalidated.
  package var isInDoubt = false
  package var alternates: [WebURL] = []

  package init(url: WebURL, role: BundleFile.Role, name: String) {
    self.url = url
    self.role = role
    self.name = name
    type = role == .extra ? "image" : "video"
  }
}

/// A text made here for players.
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
