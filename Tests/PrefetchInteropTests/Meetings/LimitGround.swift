import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

/// A server with a small and a large body, and a configuration that names both.
final class LimitGround: Sendable {
  static let small = Array(String(repeating: "small\n", count: 4000).utf8)
  static let large = Array(String(repeating: "large\n", count: 400_000).utf8)
  static let half = large.count / 2

  private struct Stage: Sendable {
    var log: [String] = []
    /// Whether the large body breaks off in its middle; `isStalled` whether it pauses there.
    var isCut = false
    var isStalled = false
  }

  let meeting: LimitMeeting
  let home: Home
  private let server: LoopbackServer
  private let stage: Shelf

  init(_ meeting: LimitMeeting) throws {
    self.meeting = meeting
    home = try Home(isInMemory: true)
    let shelf = Shelf(hasLength: meeting.neighbour != .unknownSize)
    stage = shelf
    server = try LoopbackServer { shelf.respond($0) }
  }

  var small: String { server.address("/small") }
  /// Path of the large body on a cache server.
  var largeTarget: String { server.servedPath("/large") }
  var large: String {
    switch meeting.neighbour {
    case .alternates: server.address("/lost")
    case .stream: server.address("/film.m3u8")
    default: server.address("/large")
    }
  }

  func setLarge(isCut: Bool = false, isStalled: Bool = false) {
    stage.state.withLock { state in
      state.isCut = isCut
      state.isStalled = isStalled
    }
  }

  /// Returns the bodies requested since the last call.
  func drainLog() -> [String] {
    stage.state.withLock { state in
      defer { state.log = [] }
      return state.log
    }
  }

  /// Writes the configuration; `hasLimit` is false for runs before the limit.
  func configure(hasLimit: Bool = true) {
    let isDeclared = meeting.neighbour == .declaredSize
    let mirror = server.address("/large")
    let mirrors = meeting.neighbour == .alternates ? ", alternates: [{ url: \"\(mirror)\" }]" : ""
    func item(_ url: String, _ body: [UInt8], _ more: String = "") -> String {
      "{ url: \"\(url)\"\(isDeclared ? ", size: \(body.count)" : "")\(more) }"
    }
    let kind = meeting.neighbour == .stream ? ", type: hls" : ""
    let (first, last) = (item(small, Self.small), item(large, Self.large, mirrors + kind))
    var segments: [[String]]
    if meeting.limit == .priority {
      let ranks = meeting.isMet ? ["priority: 50", "priority: 1"] : []
      segments = [["name: one", "urls: [\(first)]"], ["name: two", "urls: [\(last)]"]]
      for (index, rank) in ranks.enumerated() { segments[index].append(rank) }
    } else {
      segments = [["name: one", "urls: [\(first), \(last)]"]]
    }
    switch meeting.neighbour {
    case .twoSegments: segments.append(["name: also", "urls: [\(last)]"])
    case .publish:
      for index in segments.indices { segments[index].append("publish: { dir: tree\(index) }") }
    case .declaredSize, .unknownSize, .resume, .alternates, .get, .pull, .plan, .stream: break
    }
    let lines = segments.map { "  - " + $0.joined(separator: "\n    ") }
    let rules =
      hasLimit
      ? meeting.limit.lines(isMet: meeting.isMet) : Limit.priority.lines(isMet: false)
    home.configure((["name: limits", "segments:"] + lines + rules).joined(separator: "\n"))
  }

  private final class Shelf: Sendable {
    let state = Mutex(Stage())
    private let hasLength: Bool

    init(hasLength: Bool) {
      self.hasLength = hasLength
    }

    func respond(_ request: LoopbackRequest) -> Script {
      state.withLock { state in
        let name = String(request.path.dropFirst())
        if name == "film.m3u8" { return .respond(200, [("ETag", "\"f\"")], text: Self.playlist) }
        guard name == "small" || name == "large" else { return .respond(404, text: "") }
        let body = name == "small" ? LimitGround.small : LimitGround.large
        let tag = "\"\(name)\""
        if request.headers["If-None-Match"] == tag { return .respond(304, [("ETag", tag)]) }
        if request.method != "HEAD" { state.log.append(name) }
        let isBroken = name == "large" && (state.isCut || state.isStalled)
        return script(body, tag, request, stops: isBroken ? state.isCut ? .close : .silence : nil)
      }
    }

    private static let playlist = """
      #EXTM3U
      #EXT-X-TARGETDURATION:2
      #EXTINF:2,
      large
      #EXT-X-ENDLIST

      """

    private func script(
      _ body: [UInt8],
      _ tag: String,
      _ request: LoopbackRequest,
      stops: Script.Step?
    ) -> Script {
      let first =
        request.headers["Range"]?.split(separator: "=").last.flatMap { Int($0.dropLast()) } ?? 0
      var fields = [("ETag", tag), ("Content-Type", "text/plain")]
      if first > 0 {
        fields.append(("Content-Range", "bytes \(first)-\(body.count - 1)/\(body.count)"))
      }
      let rest = Array(body[first...])
      let hasContentLength = hasLength || first > 0
      fields.append(
        hasContentLength ? ("Content-Length", String(rest.count)) : ("Transfer-Encoding", "chunked")
      )
      let head = Script.head(first > 0 ? 206 : 200, fields)
      guard request.method != "HEAD" else { return Script([.send(head)]) }
      let chunk = hasContentLength ? [] : Array("\(String(rest.count, radix: 16))\r\n".utf8)
      guard let stops else {
        return Script([
          .send(head + chunk + rest + (hasContentLength ? [] : Array("\r\n0\r\n\r\n".utf8)))
        ])
      }
      let part = rest.prefix(first > 0 ? 0 : LimitGround.half)
      return Script([.send(head + chunk + part), stops])
    }
  }
}
