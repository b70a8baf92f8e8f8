import PrefetchCore
import PrefetchTestSupport
import Testing

/// A server with a stream, and a configuration that declares it.
class StreamGround {
  let home: Home
  let site = Site()
  let trap: KillTrap
  let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    let trap = KillTrap(site)
    self.trap = trap
    server = try LoopbackServer { trap.respond(to: $0) }
    configure()
  }

  func configure(_ lines: String = "", cache: String = "") {
    home.configure(
      """
      cache: { min_free: 0\(cache) }
      network: { retries: { items: 0, lookups: 0 } }
      segments:
        - name: films
          urls: [{ url: "\(server.address("/film.m3u8"))", type: hls, id: film }]
      \(lines)
      """
    )
  }

  // MARK: Streams

  func put(_ path: String, _ text: String) {
    site[path] = Site.Page(text)
  }

  /// Publishes two variants whose pieces differ between versions.
  func publish(version: Int, pieces: Int = 8, size: Int = 2_000) {
    put(
      "/film.m3u8",
      """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=1000
      low.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=9000
      high.m3u8

      """
    )
    for variant in ["low", "high"] {
      let lines = (0..<pieces).map { piece -> String in
        // The first half is unchanged.
        let name = "\(variant)-\(piece < pieces / 2 ? 0 : version)-\(piece).ts"
        put("/\(name)", String(repeating: "\(name) ", count: size / (name.utf8.count + 1)))
        return "#EXTINF:2,\n\(name)"
      }
      put("/\(variant).m3u8", Self.media(lines))
    }
  }

  static func media(_ lines: [String], lastLine: String = "#EXT-X-ENDLIST") -> String {
    (["#EXTM3U", "#EXT-X-TARGETDURATION:2"] + lines + [lastLine]).joined(separator: "\n") + "\n"
  }

  /// Returns the concatenated pieces as a player gets them; nil when any is missing.
  func played() throws -> String? {
    let serving = try Serving(home)
    defer { _ = serving.stop() }
    return try Self.play(serving)
  }

  static func play(_ serving: Serving) throws -> String? {
    try open(serving).flatMap { try joined($0[...], serving) }
  }

  /// Returns the concatenated pieces at these paths; nil when any is missing.
  static func joined(_ paths: ArraySlice<String>, _ serving: Serving) throws -> String? {
    try paths.map { try piece($0, serving) }.reduce("") { film, piece in
      piece.flatMap { next in film.map { $0 + next } }
    }
  }

  /// Returns the paths of the pieces that the current playlists name.
  static func open(_ serving: Serving) throws -> [String]? {
    let main = try serving.client.get("/-/item/-/film/film.m3u8")
    guard main.status == 200 else { return nil }
    let text = main.body
    guard let stream = text.split(separator: "\n").last(where: { !$0.hasPrefix("#") }) else {
      return nil
    }
    let playlist = try serving.client.get("/-/item/-/film/\(stream)")
    guard playlist.status == 200 else { return nil }
    let folder = stream.prefix { $0 != "/" }
    return playlist.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { "/-/item/-/film/\(folder)/\($0)" }
  }

  static func piece(_ path: String, _ serving: Serving) throws -> String? {
    let piece = try serving.client.get(path)
    return piece.status == 200 ? piece.body : nil
  }

  func film(version: Int, pieces: Int = 8, of variant: String = "low") -> String {
    (0..<pieces).map { piece in
      let name = "/\(variant)-\(piece < pieces / 2 ? 0 : version)-\(piece).ts"
      return site[name].map { String(decoding: $0.body, as: UTF8.self) } ?? ""
    }.joined()
  }

  // MARK: Editions

  /// Publishes a new encoding: other bytes and lengths under the same names.
  func encodeAgain(_ edition: Int, pieces: Int = 6) {
    let lines = (0..<pieces).map { piece -> String in
      put("/same-\(piece).ts", String(repeating: "\(edition).\(piece) ", count: 300))
      return "#EXTINF:\(edition + 1),\nsame-\(piece).ts"
    }
    put("/film.m3u8", Self.media(lines))
  }

  /// The first word of each piece in the published tree, in their order.
  func shown() throws -> [String] {
    try home.shell("for f in $(find screen -name '*.ts' | sort); do cut -d' ' -f1 $f; done").lines
      .map(String.init)
  }

  // MARK: Trees

  /// Returns the pieces of the published copy; nil when any is missing.
  func playedFromTree() -> String? {
    guard let main = home.read("films/film/film.m3u8"),
      let stream = main.split(separator: "\n").last(where: { !$0.hasPrefix("#") }),
      let playlist = home.read("films/film/\(stream)")
    else { return nil }
    let pieces = playlist.split(separator: "\n").filter { !$0.hasPrefix("#") }
      .map { home.read("films/film/\($0)") }
    return pieces.contains(nil) ? nil : pieces.compactMap(\.self).joined()
  }
}
