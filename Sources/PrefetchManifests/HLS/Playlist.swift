internal import PrefetchCore

/// An HLS playlist (RFC 8216 and its successor) with the tags that a playable copy needs.
enum Playlist {
  case master(MasterPlaylist)
  case media(MediaPlaylist)
}

struct MasterPlaylist {
  struct Variant {
    var attributes: AttributeList
    var uri: String
    var line: Int

    /// Bits per second: the average when it is declared, else the peak.
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

    var isSoundOnly: Bool {
      guard attributes["RESOLUTION"] == nil, !codecs.isEmpty else { return false }
      return codecs.allSatisfy { codec in
        ["mp4a", "ac-3", "ec-3", "opus", "flac", "fLaC", "Opus", "mp3"].contains {
          codec.hasPrefix($0)
        }
      }
    }
  }

  /// An alternative rendition (audio, subtitles or video) that variants refer to.
  struct Rendition {
    var attributes: AttributeList
    var line: Int

    var type: String { attributes["TYPE"] ?? "" }
    var group: String { attributes["GROUP-ID"] ?? "" }
    var uri: String? { attributes["URI"] }
  }

  var heading: [String] = []
  var variants: [Variant] = []
  var renditions: [Rendition] = []
  /// Variables from `EXT-X-DEFINE`, which media playlists may import.
  var variables: [String: String] = [:]
}

struct MediaPlaylist {
  struct Segment {
    var uri: String
    var line: Int
    var seconds = 0.0
    var range: Range<Int64>?
    /// Unknown lines before the segment, kept as they are.
    var lines: [String] = []
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
    /// Indices into the playlist's `keys` of those in effect at the map.
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
