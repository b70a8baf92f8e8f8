import PrefetchCore
import Testing

@Suite("Short addresses of lists") struct ShortAddressTests {
  @Test(
    "A short address stands for an address of the API",
    arguments: [
      ("github:acme/tool", "https://api.github.com/repos/acme/tool/releases?per_page=50"),
      ("github:acme/tool@v1.0", "https://api.github.com/repos/acme/tool/releases/tags/v1.0"),
      (
        "github:acme/tool@kit/v1@2",
        "https://api.github.com/repos/acme/tool/releases/tags/kit%2Fv1%402"
      ),
      (
        "gitlab:a/b.c/tool",
        "https://gitlab.com/api/v4/projects/a%2Fb.c%2Ftool/releases?per_page=50"
      ),
      ("gitlab:a/tool@v1", "https://gitlab.com/api/v4/projects/a%2Ftool/releases/v1"),
      (
        "forgejo:git.example:3000/a/tool",
        "https://git.example:3000/api/v1/repos/a/tool/releases?limit=50"
      ),
      ("forgejo:git.example/a/tool@v1", "https://git.example/api/v1/repos/a/tool/releases/tags/v1"),
      ("hf:acme/tiny", "https://huggingface.co/api/models/acme/tiny/revision/main"),
      (
        "hf:datasets/acme/words@refs/pr/1",
        "https://huggingface.co/api/datasets/acme/words/revision/refs%2Fpr%2F1"
      ),
      ("hf:spaces/acme/demo@v1", "https://huggingface.co/api/spaces/acme/demo/revision/v1"),
    ]
  )
  func urls(text: String, url: String) throws {
    let address = try #require(try ShortAddress(text))
    #expect(address.url(base: nil).string == url)
    #expect(address.text == text)
  }

  @Test(
    "Another base takes the place of the forge's own",
    arguments: ["https://git.example/api/v3", "https://git.example/api/v3/"]
  )
  func base(text: String) throws {
    let address = try #require(try ShortAddress("github:acme/tool@v1"))
    let url = address.url(base: try WebURL(text))
    #expect(url.string == "https://git.example/api/v3/repos/acme/tool/releases/tags/v1")
  }

  @Test(
    "An address without a project is refused, and the message shows the form",
    arguments: [
      "github:", "github:acme", "github:acme/tool/more", "github:acme/", "github:/tool",
      "github:acme/tool@", "github:acme/to ol", "github:acme/..", "github:acme/tool?x",
      "gitlab:acme", "forgejo:acme/tool", "forgejo:git.example/tool", "forgejo:a b/a/tool",
      "github:acme/tool@a b", "hf:", "hf:tiny", "hf:datasets/words", "hf:a/b/c", "hf:acme/tiny@",
      "hf:acme/tiny@../x",
      "hf:acme/tiny@/x", "hf:acme/tiny@a//b",
      "hf:models/acme/tiny", "hf:datasets/spaces/words",
    ]
  )
  func wrong(text: String) throws {
    #expect(ShortAddress.isMeant(text))
    let fault = #expect(throws: ShortAddress.Fault.self) { try ShortAddress(text) }
    let form = try #require(fault).service.form
    #expect(fault?.message.contains("write `\(form)` or `\(form)@") == true)
  }

  @Test(
    "Other texts are no short addresses",
    arguments: ["./github:a/b", "github", "https://github.com/a/b", "github://a/b", "svn:a/b", ""]
  )
  func other(text: String) throws {
    #expect(try ShortAddress(text) == nil)
  }
}

@Suite("The next page of a list") struct PageHintTests {
  @Test(
    "The relation `next` of a Link field is found",
    arguments: [
      (
        "<https://a.example/?page=2>; rel=\"next\", <https://a.example/?page=9>; rel=\"last\"",
        .next("https://a.example/?page=2")
      ),
      ("<a,b>; title=\"x, <y>; z\"; rel=first, <?p=2>;REL = \"prev next\"", .next("?p=2")),
      ("<https://a.example/>; rel=\"last\"", .last), ("", .last), ("<a", .last),
      ("<a>; rel=nextish", .last), (nil, .unstated),
    ] as [(String?, PageHint.Link)]
  )
  func link(field: String?, expected: PageHint.Link) {
    #expect(PageHint.Link(field) == expected)
  }

  @Test(
    "Without a link the number after a full page is next",
    arguments: [
      ("https://a.example/r?per_page=2", 2, "https://a.example/r?per_page=2&page=2"),
      ("https://a.example/r?page=3&limit=2", 3, "https://a.example/r?limit=2&page=4"),
      ("https://a.example/r?per_page=2", 1, nil), ("https://a.example/r", 100, nil),
      ("https://a.example/r?per_page=x", 100, nil), ("https://a.example/r?limit=1&page=x", 1, nil),
    ] as [(String, Int, String?)]
  )
  func numbered(text: String, count: Int, next: String?) throws {
    let url = try WebURL(text)
    #expect(try PageHint(url).next(after: count, from: url)?.string == next)
  }

  @Test("A stored page is followed by the known page with the next number")
  func known() throws {
    let url = try WebURL("https://a.example/r?per_page=50")
    let known = [
      "https://a.example/r/SHA256SUMS", "https://b.example/r?page=2",
      "https://a.example/id/r?page=3",
      "https://a.example/id/r?per_page=50&page=2",
    ]
    let hint = PageHint(url, known: known)
    #expect(try hint.next(after: 1, from: url)?.string == known[3])
    #expect(try PageHint(url, known: []).next(after: 1, from: url) == nil)
  }
}

@Suite("Rate limits of release APIs") struct RateLimitTests {
  private static let now = Instant(seconds: 1_800_000_000)

  @Test(
    "A rate limit lasts until the time that the server names",
    arguments: [
      (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000600"], false, 600),
      (429, ["x-ratelimit-remaining: 0", "x-ratelimit-reset: 1800000600"], false, 600),
      (403, ["RateLimit-Remaining: 0", "RateLimit-Reset: 90"], false, 90),
      (
        403, ["RateLimit-Remaining: 0", "RateLimit-Reset: 1800000600", "Retry-After: 900"], false,
        900
      ),
      (403, ["X-RateLimit-Remaining: 0"], false, 60),
      (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1799999999"], false, 0),
      (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1900000000"], false, 86_400),
      (403, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 99999999999999999"], false, 86_400),
      (403, ["Retry-After: 30"], true, 30), (403, ["Retry-After: 30"], false, nil),
      (403, ["X-RateLimit-Remaining: 5", "X-RateLimit-Reset: 1800000600"], true, nil),
      (429, ["X-RateLimit-Remaining: 0"], true, nil), (403, [], true, nil),
      (200, ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1800000600"], true, nil),
      (404, ["X-RateLimit-Remaining: 0", "Retry-After: 30"], true, nil),
    ] as [(Int, [String], Bool, Int64?)]
  )
  func pause(status: Int, fields: [String], isAPI: Bool, seconds: Int64?) {
    let headers = HeaderBlock(
      fields.map { field in
        let parts = field.split(separator: ":", maxSplits: 1)
        return HeaderField(String(parts[0]), String(parts[1].dropFirst()))
      }
    )
    let pause = RetryAfter.rateLimit(status, headers, atReleaseAPI: isAPI, now: Self.now)
    #expect(pause == seconds.map { .seconds($0) })
  }
}
