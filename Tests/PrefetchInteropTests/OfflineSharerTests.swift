import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A URL of two segments offline", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct OfflineSharerTests {
  @Test(
    "`get --offline` delivers a body that suits one of two segments, without a warning",
    arguments: [["", "require_digest: true"], [", size: 9", "required: true"]],
    [false, true]
  )
  func suitsOneSegment(rules: [String], isFirst: Bool) throws {
    let site = Site(["/a": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    let home = try Home(isInMemory: true)
    let url = server.address("/a")
    let strict = "{ name: strict, urls: [{ url: \"\(url)\"\(rules[0]) }], \(rules[1]) }"
    let lenient = "{ name: plain, urls: [\"\(url)\"] }"
    let segments = isFirst ? [strict, lenient] : [lenient, strict]
    home.configure(
      "segments: [\(segments.joined(separator: ", "))]\ncache: { min_free: 0 }"
    )
    #expect(try home.run("run", "-q", "plain").status == 0)
    let get = try home.run("get", "--offline", url)
    #expect(get.status == 0 && get.output == "body" && get.errors.isEmpty, "\(get)")
    // A request with a digest accepts only the matching body.
    let other = String(repeating: "0", count: 64)
    #expect(try home.run("get", "--offline", url, "--sha256", other).status != 0)
  }
}
