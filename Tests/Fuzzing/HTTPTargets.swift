@testable import PrefetchCore
@testable import PrefetchTransfer

/// Texts of HTTP: URLs and the policy of transport, response heads, dates and directives.
enum HTTPTargets {
  private static let now = Instant(seconds: 1_795_000_000)

  // MARK: URLs

  private static let base = try? WebURL("https://cdn.example/lists/LIST?a=b")

  /// Policy with an exception for a name with its subdomains, and one for a range of addresses.
  private static let security: TransportSecurity = {
    var security = TransportSecurity()
    security.exceptions["legacy.example"] = TransportSecurity.Exception(
      includesSubdomains: true,
      allowsInsecureHTTP: true
    )
    security.exceptions["10.0.0.0/8"] = TransportSecurity.Exception(allowsInsecureHTTP: true)
    return security
  }()

  /// Reads a first line as a URL and each further line as a reference to it.
  static func url(_ bytes: [UInt8]) {
    var url = base
    for line in bytes.split(separator: 0x0A, maxSplits: 16) {
      let text = String(decoding: line, as: UTF8.self)
      if let absolute = try? WebURL(text) {
        check(absolute)
        compare(absolute, try? WebURL(repairing: text), "parsing", text)
      }
      guard let known = url, let next = try? known.resolving(text) else { continue }
      check(next)
      compare(next, try? known.resolving(repairing: text), "resolving", text)
      url = next
    }
  }

  /// Compares the result of a fast path with that of the full one.
  private static func compare(_ fast: WebURL, _ full: WebURL?, _ what: String, _ text: String) {
    require(fast.string == full?.string, "\(what) `\(text)` gives \(fast.string) or \(full as Any)")
  }

  private static func check(_ url: WebURL) {
    let text = url.string
    require((try? WebURL(text))?.string == text, "`\(text)` changes when it is parsed again")
    require(
      (try? WebURL(repairing: text))?.string == text,
      "`\(text)` changes when it is parsed in full"
    )
    require(text.utf8.count <= 4 * WebURL.maximumLength, "a URL of \(text.utf8.count) bytes")
    require(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "`\(text)` has other characters")
    let authority = text.split(separator: "/")[1]
    require(!authority.contains("@"), "`\(text)` has user information")
    require((1...65_535).contains(url.port), "`\(text)` has the port \(url.port)")
    require(!url.host.isEmpty && url.host == url.host.lowercased(), "the host `\(url.host)`")
    let parts = url.path.split(separator: "/")
    require(!parts.contains("..") && !parts.contains("."), "`\(text)` has a dot segment")
    checkPolicy(url)
    _ = url.redacted
  }

  private static func checkPolicy(_ url: WebURL) {
    for purpose in [RequestPurpose.other, .manifest, .media, .page] {
      guard case .allowed(let entry) = security.decide(url, for: purpose, at: now) else {
        require(url.scheme == .http, "https is refused")
        continue
      }
      guard url.scheme == .http else { continue }
      let isExcepted =
        url.host == "legacy.example" || url.host.hasSuffix(".legacy.example")
        || isPrivate(url.host)
      require(isExcepted && entry != nil, "plain http to `\(url.host)` is allowed")
    }
  }

  private static func isPrivate(_ host: String) -> Bool {
    IPAddress(host: host).map { $0.bytes.first == 10 || $0.bytes.suffix(4).first == 10 } ?? false
  }

  // MARK: Response heads

  /// Receives lines, each with its end, as libcurl passes them on.
  static func head(_ bytes: [UInt8]) {
    let parser = ResponseHeadParser()
    var rest = bytes[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
      let line = Array(rest[..<end])
      rest = rest[end...]
      do throws(ResponseFault) {
        guard let head = try unsafe parser.receive(line.span.bytes) else { continue }
        judge(head)
      } catch {
        require(!error.description.isEmpty, "a fault without words")
        return
      }
    }
  }

  private static func judge(_ head: ResponseHead) {
    require((200...599).contains(head.status), "the status \(head.status)")
    if case .length(let length) = head.framing {
      require(length >= 0 && head.announcedLength == length, "the length \(length)")
    }
    var stored: [UInt8] = []
    head.headers.append(to: &stored)
    guard let again = unsafe HeaderBlock(stored: stored.span.bytes) else {
      violated("stored headers cannot be read")
    }
    require(again.fields == head.headers.fields, "stored headers differ")
    for field in head.headers.fields {
      let isClean = (field.name + field.value).utf8.allSatisfy { $0 >= 0x20 || $0 == 0x09 }
      require(isClean && !field.name.isEmpty, "a control character in the header `\(field.name)`")
    }
    _ = Freshness(head.headers, at: Freshness.Timing(now, elapsed: .seconds(2)))
    _ = Freshness.mayStore(head.headers, honorsNoStore: true)
    _ = Validators(head.headers)
    _ = Variance.names(in: head.headers)
    if let pause = RetryAfter.rateLimit(head.status, head.headers, atReleaseAPI: true, now: now) {
      checkPause(pause)
    }
    guard let base else { return }
    var jar = CookieJar()
    jar.store(head.headers, from: base, at: now)
    if let location = head.headers["Location"], let target = try? base.resolving(location) {
      check(target)
    }
  }

  private static func checkPause(_ pause: Duration) {
    require(pause >= .zero && pause <= RetryAfter.longest, "a pause of \(pause)")
  }

  // MARK: Dates and directives

  static func dates(_ bytes: [UInt8]) {
    for line in bytes.split(separator: 0x0A, maxSplits: 16) {
      let text = String(decoding: line, as: UTF8.self)
      if let instant = HTTPDate.parse(text), isFourDigits(instant) {
        let written = HTTPDate.format(instant)
        require(HTTPDate.parse(written) == instant, "`\(text)` is written as `\(written)`")
      }
      if let instant = Timestamp.parse(text), isFourDigits(instant) {
        let written = Timestamp.format(instant)
        require(Timestamp.parse(written) == instant, "`\(text)` is written as `\(written)`")
        _ = Timestamp.readable(instant)
      }
      let control = CacheControl(text)
      if let age = control.maxAge { require((0...1 << 31).contains(age), "max-age \(age)") }
      if let pause = RetryAfter.pause(text, now: now) { checkPause(pause) }
      let headers = HeaderBlock([
        HeaderField("Cache-Control", text), HeaderField("Expires", text), HeaderField("Date", text),
        HeaderField("Age", text), HeaderField("Vary", text), HeaderField("RateLimit", text),
      ])
      let freshness = Freshness(headers, at: Freshness.Timing(now))
      let columns = freshness.columns
      let again = Freshness(until: columns.until, kind: columns.kind)
      require(again == freshness, "\(freshness) is stored as \(again)")
      if let pause = RetryAfter.rateLimit(429, headers, atReleaseAPI: false, now: now) {
        checkPause(pause)
      }
    }
  }

  /// Whether the year has four digits, since others have no form to be written in.
  private static func isFourDigits(_ instant: Instant) -> Bool {
    (-62_167_219_200..<253_402_300_800).contains(instant.seconds)
  }
}
