import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

/// Content that only an authorized machine may get, whatever proves its identity.
@Suite(
  "A shared store and credentials",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct TierSecretTests {
  private static let password = "canary-password-31"
  private static let token = "canary-token-52"
  private static let license = "canary-license-77"

  private let ground: TierGround
  private let trust: TrustGround
  /// Server that requires client certificates.
  private let strict: TLSServer
  /// Server without client certificates that requires a login under the name `localhost`.
  private let open: TLSServer
  private let pages = Site()

  init() throws {
    ground = try TierGround()
    trust = try TrustGround.shared.get()
    let pages = pages
    let script = { @Sendable (head: String) in Script([.send(Self.respond(head, from: pages))]) }
    var options = TLSServer.Options(try trust.leaf())
    options.clientAuthority = trust.clientRoot
    options.requiresClientCertificate = true
    options.script = script
    strict = try TLSServer(options)
    options = TLSServer.Options(try trust.leaf(for: "IP:127.0.0.1,DNS:localhost"))
    options.script = script
    open = try TLSServer(options)
  }

  /// Returns a response that repeats the request's credentials in a header.
  private static func respond(_ head: String, from pages: Site) -> [UInt8] {
    let lines = head.split(separator: "\r\n")
    let proof = lines.first { $0.lowercased().hasPrefix("authorization:") }
    let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    let page = pages[path] ?? Site.Page([], status: 404)
    var fields = page.headers.map { ($0.name, $0.value) }
    fields.append(("Content-Length", "\(page.body.count)"))
    if let proof { fields.append(("X-Shown", String(proof.drop { $0 != " " }.dropFirst()))) }
    return Script.head(page.status, fields) + page.body
  }

  private func text(_ name: String) -> String { "canary body of \(name)\n" }

  private func publish(_ names: [String]) {
    for name in names { pages["/\(name)"] = Site.Page(text(name)) }
  }

  private func redirect(_ path: String, to target: String) {
    pages[path] = Site.Page([], headers: [HeaderField("Location", target)], status: 302)
  }

  /// Everything that the tier was sent, names and heads included.
  private func sent() -> [String] {
    ground.tier.requests.map { request in
      String(decoding: request.head, as: UTF8.self) + String(decoding: request.body, as: UTF8.self)
    }
  }

  @Test("A shared store never gets responses to our own headers")
  func ownHeaders() throws {
    let (own, other) = (Site(), Site())
    let count = 40
    let ownServer = try LoopbackServer { own.respond(to: $0) }
    let led = try LoopbackServer { other.respond(to: $0) }
    for number in 0..<count {
      let target = HeaderField("Location", "http://localhost:\(led.port)/\(number)")
      own["/\(number)"] =
        number.isMultiple(of: 2)
        ? Site.Page([], headers: [target], status: 302) : Site.Page(text("\(number)"))
      other["/\(number)"] = Site.Page(text("\(number)"))
    }
    let urls = (0..<count).map { "\"\(ownServer.address("/\($0)"))\"" }.joined(separator: ", ")
    let home = try Home(isInMemory: true)
    home.configure(
      """
      segments:
        - { name: s, urls: [\(urls)], headers: { Authorization: "Bearer \(Self.token)" } }
      cache: { min_free: 0, remote: { url: "\(ground.tier.address("/t"))", mode: read_write } }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    // Without a report of its items, a run requests most of them as plain orders.
    for words in [["-q"], ["-q", "--refetch"], ["--json", "--refetch"]] {
      let run = try home.run(words)
      #expect(run.status == 0, "\(run)")
      #expect(try home.run("list", "--state", "cached").lines.count == count)
      #expect(!ground.tier.requests.contains { $0.method == "PUT" }, "\(words)")
    }
  }

  @Test(
    "A shared store never gets responses to credentials, and no secret",
    arguments: [false, true],
    [false, true]
  )
  func canaries(sharesAll: Bool, hasToken: Bool) throws {
    let (certified, anyone) = (try strict.url().string, try open.url().string)
    let login = try open.url(host: "localhost").string
    publish([
      "certified", "pinned", "behind", "brought", "login", "public", "listed", "signed", "spoken",
    ])
    redirect("/hop", to: "\(certified)behind")
    redirect("/away", to: "\(anyone)brought")
    redirect("/presigned", to: "\(anyone)signed?X-Amz-Signature=canary-signature-9")
    pages["/signed?X-Amz-Signature=canary-signature-9"] = pages["/signed"]
    pages["/list.json"] = Site.Page(
      Manifest.text([Manifest.Entry("\(anyone)listed")]) + "\n" + String(repeating: " ", count: 41)
    )
    pages["/stream.m3u8"] = Site.Page(
      "#EXTM3U\n#EXT-X-TARGETDURATION:4\n# \(text("playlist"))#EXTINF:4,\nfilm.ts\n#EXT-X-ENDLIST\n",
      headers: [HeaderField("Content-Type", "application/vnd.apple.mpegurl")]
    )
    pages["/film.ts"] = Site.Page(
      text("film"),
      headers: [HeaderField("Content-Type", "video/mp2t")]
    )
    ground.site["/register"] = Site.Page(hasToken ? "{\"token\": \"\(Self.token)\"}" : "{}")
    let shown = hasToken ? Self.token : Self.license
    ground.site["/tokened"] = Site.Page(
      text("tokened"),
      headers: [HeaderField("X-Shown", "Bearer \(shown)")]
    )
    let digest = SHA256.digest(of: Array(text("pinned").utf8)).hexadecimal
    let home = try ground.machine("")
    let netrc = "\(home.folder.path)/home/.netrc"
    FileTree.write(
      Array("machine localhost login anna password \(Self.password)\n".utf8),
      to: netrc
    )
    _ = try home.shell("chmod 600 '\(netrc)'")
    let files = trust.clientFiles()
    home.configure(
      """
      license: \(Self.license)
      registration: { url: "\(ground.origin.address("/register"))" }
      segments:
        - name: s
          urls:
            - "\(certified)certified"
            - "\(certified)pinned#sha256=\(digest)"
            - "\(certified)away"
            - { url: "\(anyone)spoken", headers: { Accept-Language: de } }
            - "\(anyone)hop"
            - "\(anyone)public"
            - "\(anyone)presigned"
            - "\(login)login"
            - { url: "\(login)stream.m3u8", type: hls }
            - "\(ground.origin.address("/tokened"))"
        - { name: list, manifest: "\(certified)list.json" }
      tls:
        ca_file: "\(trust.authorities)"
        client:
          "\(try strict.url().authority)": { certificate: "\(files.certificate)", key: "\(files.key)" }
      network: { netrc: true, proxy: none }
      cache:
        min_free: 0
        remote: { url: "\(ground.tier.address("/t"))", mode: read_write, trust: true, share: \(sharesAll ? "all" : "public") }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    // Every request carried the required credentials.
    let code = Base64.encode("anna:\(Self.password)".utf8)
    #expect(strict.record.sawClientCertificate)
    #expect(open.requestText.contains(code))
    #expect(ground.site.requests.contains { $0.headers["Authorization"] == "Bearer \(shown)" })
    let sent = sent()
    for name in [
      "certified", "pinned", "behind", "brought", "login", "playlist", "film", "tokened", "spoken",
    ] {
      #expect(sent.contains { $0.contains(text(name)) } == sharesAll, "\(name)")
    }
    let padding = String(repeating: " ", count: 41)
    #expect(sent.contains { $0.contains(padding) } == sharesAll, "the list")
    for name in ["public", "listed", "signed"] {
      #expect(sent.contains { $0.contains(text(name)) }, "\(name)")
    }
    let key = FileTree.read(files.key).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let line = try #require(key.split(separator: "\n").dropFirst().first)
    for secret in [
      Self.password, code, Self.token, Self.license, "canary-signature-9", String(line),
    ] {
      #expect(!sent.contains { $0.contains(secret) }, "\(secret)")
    }
    // The tier receives no request about private items, except by digests of a list.
    let lookups = ground.tier.requests.filter { $0.method == "GET" }.map(\.path)
    for url in ["\(certified)certified", "\(certified)list.json", "\(login)login"] {
      let name = SHA256.digest(of: Array("prefetch/1\n\(url)".utf8)).hexadecimal
      #expect(!lookups.contains("/t/ac/\(name)"), "\(url)")
    }
  }
}
