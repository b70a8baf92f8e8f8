@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport

/// Servers of a kiosk: six films, an ad and a site, with the network to them.
///
/// Each piece is text that states its film, edition, variant and number.
final class KioskOrigin: Sendable {
  enum Line {
    case sound
    /// Each third piece breaks off.
    case breaking
    case away
  }

  struct Film {
    let number: Int
    let edition: Int
    let variant: String

    static let variants = ["low", "medium", "high"]
    static let pieceCount = 6
    static let largestPiece = 6_000

    /// Whether the pieces of all editions have the same names.
    private var hasFixedNames: Bool { number % 2 == 0 }

    func name(_ piece: Int) -> String {
      hasFixedNames ? "\(variant)/\(piece).ts" : "\(variant)/\(edition)-\(piece).ts"
    }

    func body(_ piece: Int) -> String {
      let line = "film \(number) edition \(edition) variant \(variant) piece \(piece)\n"
      let size = [3_000, 4_000, Self.largestPiece][Self.variants.firstIndex(of: variant) ?? 0]
      return String(repeating: line, count: size / line.utf8.count)
    }

    /// Parses a body; returns nil when it is none.
    init?(_ body: String) {
      let words = body.prefix { $0 != "\n" }.split(separator: " ")
      guard words.count == 8, let number = Int(words[1]), let edition = Int(words[3]) else {
        return nil
      }
      self.init(number, edition: edition, variant: String(words[5]))
    }

    init(_ number: Int, edition: Int, variant: String) {
      (self.number, self.edition, self.variant) = (number, edition, variant)
    }

    var playlist: String {
      let lines = (0..<Self.pieceCount).map { piece in
        // A new encoding has other segment lengths.
        "#EXTINF:\(2 + edition % 50).0,\n\(name(piece).split(separator: "/")[1])"
      }
      return StreamGround.media(lines)
    }
  }

  private struct State {
    var line = Line.sound
    var bodies = 0
    var requests = 0
    /// The number of the first request that is not answered any more.
    var silentFrom: Int?
    /// Bytes of complete responses, by the first component of the path.
    var sent: [Substring: Int] = [:]
    var counted = 0
  }

  static let filmCount = 6

  private let site = Site()
  private let state = Guarded(State())

  // MARK: What there is

  func publish(film number: Int, edition: Int) {
    let base = "/f\(number)"
    let last = Film.variants.map { Film(number, edition: edition - 1, variant: $0) }
    for film in last {
      for piece in 0..<Film.pieceCount { site["\(base)/\(film.name(piece))"] = nil }
    }
    var lines = ["#EXTM3U"]
    for (index, variant) in Film.variants.enumerated() {
      let film = Film(number, edition: edition, variant: variant)
      for piece in 0..<Film.pieceCount {
        site["\(base)/\(film.name(piece))"] = Site.Page(film.body(piece))
      }
      site["\(base)/\(variant)/all.m3u8"] = Site.Page(film.playlist)
      lines += ["#EXT-X-STREAM-INF:BANDWIDTH=\(9_000 * (index + 1))", "\(variant)/all.m3u8"]
    }
    site["\(base)/film.m3u8"] = Site.Page(lines.joined(separator: "\n") + "\n")
  }

  func publish(pages edition: Int, at address: (String) -> String) {
    let names = (0..<5).map { "/site/\($0).html" }
    for name in names { site[name] = Site.Page("page \(name) edition \(edition)") }
    site["/site.txt"] = Site.Page(names.map { address($0) + "\n" }.joined())
    let media = "/ads/\(edition).mp4"
    site[media] = Site.Page("ad \(edition)")
    let tracking = address("/never/seen")
    site["/tag"] = Site.Page(
      """
      <VAST version="3.0"><Ad id="\(edition)"><InLine><AdSystem>a</AdSystem><AdTitle>t</AdTitle>
      <Impression>\(tracking)</Impression><Error>\(tracking)</Error><Creatives><Creative><Linear>
      <Duration>00:00:05</Duration>
      <TrackingEvents><Tracking event="start">\(tracking)</Tracking></TrackingEvents>
      <VideoClicks><ClickTracking>\(tracking)</ClickTracking></VideoClicks>
      <MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="4" height="3">
      \(address(media))</MediaFile></MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
      """
    )
  }

  // MARK: Its line

  func set(_ line: Line) {
    state.withLock { $0.line = line }
  }

  /// Answers the requests before this one and none from then on; nil answers all.
  func respond(upTo count: Int?) {
    state.withLock { state in state.silentFrom = count.map { state.requests + $0 } }
  }

  /// Requests that reached the servers.
  var requestCount: Int { state.withLock { $0.requests } }

  /// Returns the bytes sent of some films since the last call.
  func drainBytes(ofFilms films: Range<Int>) -> Int {
    state.withLock { state in
      let all = films.reduce(0) { $0 + (state.sent["f\($1)"] ?? 0) }
      defer { state.counted = all }
      return all - state.counted
    }
  }

  /// Number of requests to tracking addresses.
  var countedViews: Int { site.requests.count { $0.path.hasPrefix("/never") } }

  func respond(to request: LoopbackRequest) -> Script {
    let isPiece = request.path.hasSuffix(".ts")
    let line = state.withLock { state -> Line? in
      guard state.line != .away else { return .away }
      state.requests += 1
      if let silent = state.silentFrom, state.requests >= silent { return nil }
      guard isPiece, state.line == .breaking else { return .sound }
      state.bodies += 1
      return state.bodies % 3 == 0 ? .breaking : .sound
    }
    guard let line else { return Script([.silence]) }
    guard line != .away else { return Script([.reset]) }
    var script = site.respond(to: request)
    guard case .send(let bytes)? = script.steps.first else { return script }
    if line == .breaking {
      script.steps = [.send(Array(bytes.prefix(bytes.count / 2))), .reset]
      return script
    }
    let folder = request.path.dropFirst().prefix { $0 != "/" }
    state.withLock { $0.sent[folder, default: 0] += bytes.count }
    return script
  }
}
