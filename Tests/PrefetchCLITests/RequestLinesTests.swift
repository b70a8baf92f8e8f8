import Testing

@testable import PrefetchCLI
@testable import PrefetchCore

@Suite("A request as it is traced")
struct RequestLinesTests {
  private static func story() throws -> RequestStory {
    var figures = TransferFigures()
    figures.version = .http2
    figures.remoteAddress = "192.0.2.7"
    figures.wireBytes = 321
    figures.dns = .microseconds(1200)
    figures.connect = .microseconds(350)
    figures.tls = .milliseconds(12)
    figures.total = .milliseconds(40)
    figures.trace = TransferTrace(
      sent: "GET /a?sig=letmein&page=1 HTTP/2\r\nHost: x.org\r\nAuthorization: Bearer letmein\r\n"
        + "X-Own: letmein\r\nAccept-Encoding: gzip\r\nIf-None-Match: \"v1\"\r\nletmein\r\n\r\n",
      shown: ShownCertificate(
        protocolVersion: "TLSv1.3",
        subject: "CN=x.org",
        names: "DNS:x.org",
        issuer: "CN=Authority",
        expires: Instant(milliseconds: 1_795_150_800_000)
      )
    )
    return RequestStory(
      url: try WebURL("https://x.org/a?sig=letmein&page=1"),
      segments: ["s"],
      attempt: 2,
      status: 503,
      headers: HeaderBlock([
        HeaderField("Retry-After", "5"), HeaderField("Set-Cookie", "id=letmein"),
        HeaderField("Location", "https://u:letmein@x.org/b?token=letmein"),
        HeaderField("X-Session-Token", "letmein"), HeaderField("ETag", "\"v2\""),
      ]),
      figures: figures
    )
  }

  @Test("A traced request has its address, its connection and the time of each phase")
  func circumstances() throws {
    let lines = RequestLines(story: try Self.story())
    #expect(lines.summary == "request: https://x.org/a?sig=***&page=1 503, 321 bytes, attempt 2")
    #expect(
      lines.circumstances == [
        "  address 192.0.2.7 over HTTP/2, a new connection",
        "  TLSv1.3, certificate of CN=x.org for DNS:x.org, by CN=Authority, "
          + "until 2026-11-20T05:00:00.000Z",
        "  dns 1.2 ms, connect 0.3 ms, tls 12.0 ms, done after 40.0 ms",
      ]
    )
  }

  @Test("A traced request has both heads without credentials")
  func heads() throws {
    let lines = RequestLines(story: try Self.story()).heads
    #expect(
      lines == [
        "  > GET /a?sig=***&page=1 HTTP/2", "  > Host: x.org", "  > Authorization: ***",
        "  > X-Own: ***", "  > Accept-Encoding: gzip", "  > If-None-Match: \"v1\"", "  > ***",
        "  < 503", "  < Retry-After: 5", "  < Set-Cookie: ***",
        "  < Location: https://***@x.org/b?token=***", "  < X-Session-Token: ***",
        "  < ETag: \"v2\"",
      ]
    )
    #expect(!lines.joined().contains("letmein"))
  }

  @Test("A traced request without a response has its failure")
  func failure() throws {
    let story = RequestStory(
      url: try WebURL("https://x.org/a"),
      segments: [],
      attempt: 1,
      failure: Failure(.tls, "no TLS")
    )
    let lines = RequestLines(story: story)
    #expect(lines.summary == "request: https://x.org/a tls: no TLS, 0 bytes")
    #expect(lines.circumstances == [] && lines.heads == [])
  }
}
