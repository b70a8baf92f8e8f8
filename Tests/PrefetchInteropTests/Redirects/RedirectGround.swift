import PrefetchCore
import PrefetchTestSupport
import Synchronization
import Testing

/// Request that a redirect begins with.
enum RedirectStart: String, Sendable, CaseIterable {
  case item
  case secureItem
  case manifest
  case secureManifest
  /// An item whose server receives the license.
  case licensed
  case secureLicensed
  /// An alternate source of an item, whose first source has lost the body.
  case alternate

  var isSecure: Bool {
    self == .secureItem || self == .secureManifest || self == .secureLicensed
  }

  var isLicensed: Bool {
    self == .licensed || self == .secureLicensed
  }
}

/// Servers that redirect the client, and the requests that they receive.
final class RedirectGround {
  static let secrets = [
    Canary("canary/license+5be1"), Canary(LicenseServer.token), Canary("canary/header+77aa"),
  ]
  /// An empty manifest, which is as good an item as any.
  private static let page = Script.respond(
    200,
    [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
    text: Manifest.text([String]())
  )

  let start: RedirectStart
  let first: LoopbackServer
  let other: LoopbackServer
  let far: LoopbackServer
  /// Server behind TLS.
  let secure: LoopbackServer
  /// Server that has nothing any more.
  let lost: LoopbackServer
  private let home: Home
  /// TLS proxies of `first` and `secure`.
  private let front: Nginx
  private let secureFront: Nginx
  private let reply: ReplyBox
  private let pin: String

  private final class ReplyBox: Sendable {
    let script = Mutex(Script([]))
    /// Target of the redirect back.
    let origin = Mutex("")
  }

  init(_ start: RedirectStart) throws {
    self.start = start
    home = try Home(isInMemory: true)
    let reply = ReplyBox()
    self.reply = reply
    first = try LoopbackServer { Self.first($0, reply) }
    other = try LoopbackServer { Self.elsewhere($0, reply) }
    far = try LoopbackServer(number: 2) { Self.elsewhere($0, reply) }
    secure = try LoopbackServer { Self.elsewhere($0, reply) }
    lost = try LoopbackServer { _ in .respond(404) }
    pin = try Self.makeCertificate(in: home)
    var options = Nginx.Options()
    options.certificate = home.path("server.pem")
    options.key = home.path("server.key")
    options.backend = first.port
    front = try Nginx(options)
    options.backend = secure.port
    options.addresses = ["127.0.0.2"]
    secureFront = try Nginx(options)
    reply.origin.withLock { $0 = "\(start.isSecure ? "https" : "http")://\(authority)" }
  }

  /// Creates a certificate for all names used here; returns the pin of its key.
  private static func makeCertificate(in home: Home) throws -> String {
    home.write(
      "subjectAltName=IP:127.0.0.1,IP:127.0.0.2,DNS:localhost\nbasicConstraints=CA:FALSE\n",
      to: "server.ext"
    )
    let made = try home.shell(
      """
      set -e
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj '/CN=A test authority' -keyout ca.key -out ca.pem
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj '/CN=127.0.0.1' -keyout server.key -out server.csr
      openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile server.ext -out server.pem
      openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
        openssl dgst -sha256 -binary | base64 > pin
      """
    )
    try #require(made.status == 0, "\(made)")
    return try #require(home.read("pin")).split(separator: "\n").joined()
  }

  // MARK: Servers

  private static func first(_ request: LoopbackRequest, _ reply: ReplyBox) -> Script {
    switch request.path {
    case _ where request.method == "POST": LicenseServer.granting()
    case _ where isStart(request.target): reply.script.withLock { $0 }
    case "/ring": .respond(302, [("Location", "/ring2")])
    case "/ring2": .respond(302, [("Location", "/ring")])
    case _ where request.path.hasPrefix("/hop/"):
      hop(Int(request.path.dropFirst(5)) ?? 9)
    default: page
    }
  }

  private static func isStart(_ target: String) -> Bool {
    target.hasPrefix("/start/") && target.dropFirst(7).allSatisfy(\.isNumber)
  }

  /// Returns a hop of a chain, of which the fifth is the last that is followed.
  private static func hop(_ number: Int) -> Script {
    number < 6 ? .respond(302, [("Location", "/hop/\(number + 1)")]) : page
  }

  private static func elsewhere(_ request: LoopbackRequest, _ reply: ReplyBox) -> Script {
    guard request.path == "/back" else { return page }
    return .respond(302, [("Location", reply.origin.withLock { $0 } + "/next")])
  }

  /// Host and port of the first server, as the client sees them.
  private var authority: String {
    "127.0.0.1:\(start.isSecure ? front.port : first.port)"
  }

  // MARK: Play

  struct Outcome {
    var status: Int32
    var code: String?
    var run: ProgramRun
    /// Requests of this run by server.
    var first: ArraySlice<LoopbackRequest>
    var other: ArraySlice<LoopbackRequest>
    var far: ArraySlice<LoopbackRequest>
    var secure: ArraySlice<LoopbackRequest>
    var otherConnections: Int
    var farConnections: Int
  }

  /// Runs from the first server, which redirects to `location`, byte by byte.
  func play(_ location: String?, status: Int, number: Int, rules: String = "") throws -> Outcome {
    let path = "/start/\(number)"
    let target = location.map { written($0, path) }
    reply.script.withLock { script in
      script = .respond(status, target.map { [("Location", $0)] } ?? [])
    }
    configure("\(start.isSecure ? "https" : "http")://\(authority)\(path)", rules)
    let before = [first, other, far, secure].map(\.requests.count)
    let connections = [other, far].map(\.connectionCount)
    let run = try home.start(
      ["--json", "--items", "all", "--cache-dir", home.path("cache-\(number)")]
    ).finish(within: 30)
    let report = try run.json()
    return Outcome(
      status: run.status,
      code: report.text("items.0.error.code") ?? report.text("segments.0.manifest.error.code"),
      run: run,
      first: first.requests[before[0]...].filter { $0.method != "POST" }[...],
      other: other.requests[before[1]...],
      far: far.requests[before[2]...],
      secure: secure.requests[before[3]...],
      otherConnections: other.connectionCount - connections[0],
      farConnections: far.connectionCount - connections[1]
    )
  }

  private func written(_ location: String, _ path: String) -> String {
    let away =
      start.isSecure ? "127.0.0.1:\(secureFront.port)" : "127.0.0.1:\(other.port)"
    return location.replacing("SCHEME", with: start.isSecure ? "https" : "http")
      .replacing("FIRST", with: authority)
      .replacing("OTHER", with: "127.0.0.1:\(other.port)")
      .replacing("AWAY", with: away)
      .replacing("START", with: path)
      .replacing("P1", with: "\(first.port)")
      .replacing("P2", with: "\(other.port)")
      .replacing("P3", with: "\(far.port)")
      .replacing("PS", with: "\(secureFront.port)")
  }

  private func configure(_ url: String, _ rules: String) {
    let source =
      switch start {
      case .manifest, .secureManifest: "manifest: \"\(url)\""
      case .alternate:
        """
        urls: ["\(lost.address(url.replacing("http://\(authority)", with: "")))"]
            base: "\(lost.address("/"))"
            alternates: ["http://\(authority)/"]
        """
      case .item, .secureItem, .licensed, .secureLicensed: "urls: [\"\(url)\"]"
      }
    let registration =
      start.isLicensed
      ? "registration: { url: \"\(start.isSecure ? "https" : "http")://\(authority)/license\" }"
      : ""
    home.write(
      """
      license: "\(Self.secrets[0].text)"
      \(registration)
      transport_security:
        NSExceptionDomains:
          127.0.0.1: { NSExceptionAllowsInsecureHTTPLoads: true }
          localhost: { NSExceptionAllowsInsecureHTTPLoads: true }
      tls:
        ca_file: ca.pem
        pins:
          localhost: { leaf: ["\(pin)"] }
          127.0.0.2: { leaf: ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] }
      segments:
        - name: s
          \(source)
          headers: { X-Key: "\(Self.secrets[2].text)" }
          allow_empty: true
      network:
        retries: { items: 0, lookups: 0 }
        timeouts: { connect: 3s, read: 3s }
      cache: { min_free: 0 }
      \(rules)

      """
    )
  }
}
