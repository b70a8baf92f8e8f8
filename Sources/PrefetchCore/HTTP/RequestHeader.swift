/// Which request headers may be set by whom.
package enum RequestHeader {
  /// Names that the transport or the cache itself owns.
  private static let owned: Set<String> = [
    "host", "content-length", "connection", "transfer-encoding", "te", "upgrade", "keep-alive",
    "proxy-connection", "trailer", "range", "accept-encoding", "if-match", "if-none-match",
    "if-modified-since", "if-unmodified-since", "if-range", "expect",
  ]
  private static let secret: Set<String> = ["cookie", "authorization", "proxy-authorization"]
  /// What says something about the answer wanted, and nothing about who wants it.
  private static let harmless: Set<String> = [
    "accept", "accept-language", "cache-control", "dnt", "origin", "pragma", "prefer", "referer",
    "user-agent",
  ]

  /// What a configuration may set.
  package static func mayBeConfigured(_ name: String) -> Bool {
    isName(name) && !owned.contains(name.lowercased())
  }

  /// What a remote manifest may ask to be sent.
  package static func mayComeFromManifest(_ name: String) -> Bool {
    mayBeConfigured(name) && !secret.contains(name.lowercased())
  }

  /// Names and beginnings of names of headers that are about the client or its connection.
  private static let ofClient: Set<String> = [
    "cache-control", "cookie2", "date", "from", "origin", "pragma", "referer", "user-agent",
  ]
  private static let ofClientPrefixes = ["content-", "if-", "proxy-", "sec-fetch-"]

  /// Whether a cache server may pass the header of a client on to a server.
  package static func mayComeFromClient(_ name: String) -> Bool {
    let name = name.lowercased()
    return mayComeFromManifest(name) && !ofClient.contains(name)
      && !ofClientPrefixes.contains { name.hasPrefix($0) }
  }

  /// Whether a header can prove nothing about the sender; any other one may.
  package static func isHarmless(_ name: String) -> Bool {
    harmless.contains(name.lowercased())
  }

  /// A token of RFC 9110.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        ASCII.isDigit(byte)
          || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
          || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
  }

  /// No line breaks, no control characters, no blanks at the ends.
  package static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
      && text.first != " " && text.last != " " && text.first != "\t" && text.last != "\t"
  }
}
