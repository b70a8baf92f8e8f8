import Testing

@testable import PrefetchCore

@Suite("Recognition of playlists and ads")
struct RecognitionTests {
  private func form(_ text: String, _ type: String?, _ path: String = "/a") -> BundleForm? {
    BundleForm.recognized(type: type, path: path, prefix: Array(text.utf8))
  }

  @Test("A playlist is recognised by its first word and an agreeing type or name")
  func playlists() {
    for type in ["application/vnd.apple.mpegurl", "audio/x-mpegURL; charset=utf-8"] {
      #expect(form("#EXTM3U\n", type) == .stream)
      #expect(form("\u{FEFF}\r\n #EXTM3U", type) == .stream)
    }
    for type in [nil, "text/plain", "application/octet-stream", "binary/octet-stream"] {
      #expect(form("#EXTM3U\r\n", type, "/x/Film.M3U8") == .stream)
      #expect(form("#EXTM3U\r\n", type, "/x/film") == nil)
    }
    for text in ["#EXTM3UX\n", "EXTM3U", "# EXTM3U", "<html>#EXTM3U", ""] {
      #expect(form(text, "application/vnd.apple.mpegurl", "/a.m3u8") == nil, "\(text)")
    }
    #expect(form("#EXTM3U\n", "text/html", "/a.m3u8") == nil)
  }

  @Test("An ad is recognised by its root and a type that does not contradict it")
  func ads() {
    let texts = [
      "<VAST version=\"3.0\">", "<?xml version=\"1.0\"?>\n<VAST>", "<VAST/>",
      "\u{FEFF} \n<?xml version='1.0'?><!-- a --> <VAST\n>",
    ]
    for text in texts {
      for type in ["application/xml", "text/xml; charset=utf-8", "application/vast+xml", nil] {
        #expect(form(text, type) == .ad, "\(text)")
      }
      for type in ["text/html", "application/xhtml+xml", "application/json", "image/png"] {
        #expect(form(text, type) == nil, "\(text)")
      }
    }
    for text in ["<html><VAST>", "<!DOCTYPE html><VAST>", "<VASTs>", "<vast>", "VAST", "<rss/>"] {
      #expect(form(text, "application/xml") == nil, "\(text)")
    }
  }

  @Test("Names of ad spaces are used as they are written")
  func zones() {
    var entry = ManifestEntry(url: WebURL.exampleTag)
    #expect(entry.recordURL == entry.url.string)
    let keys = ["a-b", "ab", "a_b", "AB"].map { zone -> String in
      entry.zone = zone
      #expect(AdSpace.zone(ofRecord: entry.recordURL) == zone)
      return entry.recordURL
    }
    #expect(Set(keys).count == 4)
    #expect(AdSpace.zone(ofRecord: "https://example.org/vast:a") == nil)
  }

  @Test("A title or info of an item changes its description only where present")
  func captions() {
    var entry = ManifestEntry(url: WebURL.exampleTag)
    let untitled = entry.descriptionHash
    entry.caption.title = "a"
    let titled = entry.descriptionHash
    entry.caption = ItemCaption()
    entry.caption.info = "a"
    #expect(Set([untitled, titled, entry.descriptionHash]).count == 3)
    entry.caption = ItemCaption()
    #expect(entry.descriptionHash == untitled)
  }
}

extension WebURL {
  fileprivate static var exampleTag: WebURL {
    guard let url = try? WebURL("https://example.org/tag") else { preconditionFailure() }
    return url
  }
}
