internal import PrefetchCore

/// An HLS playlist (RFC 8216 and its successor), as far as it is needed to keep a copy that plays.
enum Playlist {
  case master(MasterPlaylist)
  case media(MediaPlaylist)
}

/// What there is to choose from.
struct MasterPlaylist {
  /// One way to see all of it.
  struct Variant {
    var attributes: AttributeList
    var uri: String
    var line: Int

    /// Bits a second, on average where that is said.
    var bitrate: Int64 {
      attributes.integer("AVERAGE-BANDWIDTH") ?? attributes.integer("BANDWIDTH") ?? 0
    }

    var height: Int? {
      let parts = attributes["RESOLUTION"]?.split(separator: "x") ?? []
      return parts.count == 2 ? Int(parts[1]) : nil
    }

    var codecs: [Substring] {
      (attributes["CODECS"] ?? "").split(separator: ",").map { $0.drop { $0 == " " } }
    }

    /// Whether there is nothing to see.
    var isSoundOnly: Bool {
      guard attributes["RESOLUTION"] == nil, !codecs.isEmpty else { return false }
      return codecs.allSatisfy { codec in
        ["mp4a", "ac-3", "ec-3", "opus", "flac", "fLaC", "Opus", "mp3"].contains {
          codec.hasPrefix($0)
        }
      }
    }
  }

  /// Sound, subtitles or pictures that variants refer to.
  struct Rendition {
    var attributes: AttributeList
    var line: Int

    var type: String { attributes["TYPE"] ?? "" }
    var group: String { attributes["GROUP-ID"] ?? "" }
    var uri: String? { attributes["URI"] }
  }

  /// Lines that hold for all of it.
  var heading: [String] = []
  var variants: [Variant] = []
  var renditions: [Rendition] = []
  /// By `EXT-X-DEFINE`, for the media playlists to import.
  var variables: [String: String] = [:]
}

/// The pieces of one stream, in their order.
struct MediaPlaylist {
  struct Segment {
    var uri: String
    var line: Int
    var seconds = 0.0
    var range: Range<Int64>?
    /// Lines before it that mean nothing here, as they are.
    var lines: [String] = []
    /// Into the playlist's lists.
    var keys: [Int] = []
    var map: Int?
    var isMissing = false
    var number: Int64 = 0
  }

  struct Key: Hashable {
    var attributes: AttributeList
    var line: Int

    var method: String { attributes["METHOD"] ?? "" }
    var format: String { attributes["KEYFORMAT"] ?? "identity" }
  }

  struct Map: Hashable {
    var uri: String
    var range: Range<Int64>?
    var line: Int
    /// Into the playlist's list, as far as they stand before it.
    var keys: [Int] = []
  }

  var heading: [String] = []
  var version = 1
  var targetDuration: String?
  var firstNumber: Int64 = 0
  var discontinuity: String?
  var segments: [Segment] = []
  var keys: [Key] = []
  var maps: [Map] = []
  var isEnded = false
}
