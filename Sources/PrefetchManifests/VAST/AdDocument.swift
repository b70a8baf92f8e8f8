internal import PrefetchCore
internal import PrefetchDocuments

/// An ad server's answer (VAST 2 to 4), as far as it is needed to have here what will be shown.
///
/// Whatever counts views and clicks is not even read: only players may ask for it.
struct AdDocument {
  var ads: [Ad] = []
}

struct Ad {
  enum Content {
    case inline(InlineAd)
    case wrapper(AdWrapper)
  }

  var id: String?
  /// Its place in a pod; nil for one that stands alone.
  var sequence: Int?
  var content: Content
}

/// Says that another server knows the ad.
struct AdWrapper {
  var tag: AdLink
  var mayFollowWrappers = true
  var mayBePod = true
  /// Shown with the ad where that brings none of a kind.
  var extras: [AdExtra] = []
}

struct InlineAd {
  var system: String?
  var systemVersion: String?
  var title: String?
  /// The same wherever the creative is.
  var universalID: String?
  var seconds: Double?
  /// Data for players; never asked for.
  var clickThrough: String?
  var media: [AdMedium] = []
  var extras: [AdExtra] = []
  /// Texts of extensions, by the names of their elements.
  var extensions: [(String, String)] = []
}

/// An address as it is written.
struct AdLink: Hashable {
  var text: String
  /// Where its element begins.
  var byte: Int

  /// One that only a player can fill in.
  var macro: Substring? {
    var rest = text[...]
    while let open = rest.firstIndex(of: "[") {
      rest = rest[rest.index(after: open)...]
      guard let close = rest.firstIndex(of: "]") else { return nil }
      let name = rest[..<close]
      if name.utf8.count > 1, name.utf8.allSatisfy(Self.isMacro) { return name }
    }
    return nil
  }

  private static func isMacro(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || byte == UInt8(ascii: "_")
  }
}

/// The film in one of its encodings.
struct AdMedium {
  var link: AdLink
  var type: String?
  /// Bits a second.
  var bitrate: Int64?
  var width: Int64?
  var height: Int64?
  var size: Int64?
  var codec: String?
  var isProgressive = true
  /// Made for a program within the player, and no film.
  var isProgram = false

  var area: Int64? {
    guard let width, let height else { return nil }
    return width.multipliedReportingOverflow(by: height).partialValue
  }
}

/// What is shown besides the film.
struct AdExtra {
  /// Longest page that is kept as an end card, in bytes.
  static let longestPage = 1 << 20

  enum Purpose: String, CaseIterable {
    case companion
    case icon
    case caption
    /// Of an extension.
    case image
  }

  /// Place of its bytes.
  enum Source {
    case link(AdLink)
    /// Text that is written out in the document.
    case page(String)
    /// End card that is not kept: a frame of its server's, or a page that is too long.
    case leftOut
  }

  var kind: Purpose
  var source: Source
  var type: String?
  /// For players.
  var facts: [(String, JSONValue)] = []
}
