internal import PrefetchCore
internal import PrefetchDocuments

/// A VAST 2 to 4 response without tracking addresses, which only players may request.
struct AdDocument {
  var ads: [Ad] = []
}

struct Ad {
  enum Content {
    case inline(InlineAd)
    case wrapper(AdWrapper)
  }

  var id: String?
  /// Position in an ad pod; nil for an ad that stands alone.
  var sequence: Int?
  var content: Content
}

struct AdWrapper {
  var tag: AdLink
  var mayFollowWrappers = true
  var mayBePod = true
  var extras: [AdExtra] = []
}

struct InlineAd {
  var system: String?
  var systemVersion: String?
  var title: String?
  var universalID: String?
  var seconds: Double?
  /// Click address, which is data for players and never requested.
  var clickThrough: String?
  var media: [AdMedium] = []
  var extras: [AdExtra] = []
  var extensions: [(String, String)] = []
}

struct AdLink: Hashable {
  var text: String
  var byte: Int

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

struct AdMedium {
  var link: AdLink
  var type: String?
  /// Bits per second.
  var bitrate: Int64?
  var width: Int64?
  var height: Int64?
  var size: Int64?
  var codec: String?
  var isProgressive = true
  var isProgram = false

  var area: Int64? {
    guard let width, let height else { return nil }
    return width.multipliedReportingOverflow(by: height).partialValue
  }
}

struct AdExtra {
  static let longestPage = 1 << 20

  enum Purpose: String, CaseIterable {
    case companion
    case icon
    case caption
    case image
  }

  enum Source {
    case link(AdLink)
    case page(String)
    /// End card that is not stored: a server's frame, or a page that is too long.
    case leftOut
  }

  var kind: Purpose
  var source: Source
  var type: String?
  var facts: [(String, JSONValue)] = []
}
