import PrefetchCore
import Testing

/// Names and passwords in URLs that texts quote.
@Suite struct UserInformationTests {
  @Test(
    "User information is masked, whatever is around it",
    arguments: [
      ("http://user:pass@h.example/x", "http://***@h.example/x"),
      ("`https://user@h.example` is bad", "`https://***@h.example` is bad"),
      ("a (https://u:p@h/) and ftp://u:p@k/", "a (https://***@h/) and ftp://***@k/"),
      ("https://u:p@ss@h.example/", "https://***@h.example/"),
      ("https://u:p/ss@h.example/y", "https://***@h.example/y"),
      ("https://u:p#ss@h.example/y", "https://***@h.example/y"),
      ("https://u:p?ss@h.example/y", "https://***@h.example/y"),
      ("https://u:\u{FF}@h/", "https://***@h/"), ("//u:p@h/x", "//***@h/x"),
      ("user:pass@proxy.example:3128", "***@proxy.example:3128"),
      ("--proxy=user:pass@h", "--proxy=***@h"), ("user:p=w@h", "***@h"),
      ("`a:b=c@h:1`", "`***@h:1`"), ("\"http://u:p@h\"", "\"http://***@h\""),
      ("http://u:p@h/x http://k/y", "http://***@h/x http://k/y"),
    ]
  )
  func masks(text: String, expected: String) {
    #expect(UserInformation.masked(text) == expected)
    #expect(UserInformation.masked(expected) == expected)
  }

  @Test(
    "Other at signs are kept",
    arguments: [
      "", "@", "no sign", "me@example.org", "https://registry.example/@scope/pkg",
      "https://h.example:8443/@scope", "https://h.example/a@b?c=@d", "left@1.0.0",
      "prefetch@name.service", "https://[::1]:80/@x", "path/@x", "a: @b", "https://h.example/x#@y",
    ]
  )
  func leaves(text: String) {
    #expect(UserInformation.masked(text) == text)
  }

  @Test("User information enters no message and no refused item")
  func types() {
    let text = "`http://u:canary@h/` is none"
    #expect(!Failure(.badURL, text).message.contains("canary"))
    #expect(!Diagnostic("x", text, hint: text).message.contains("canary"))
    #expect(Diagnostic("x", text, hint: text).hint?.contains("canary") == false)
    let entry = RejectedEntry(url: "http://u:canary@h/", failure: Failure(.badURL, text))
    #expect(entry.url == "http://***@h/")
    let shown = DiagnosticRenderer().render(Diagnostic("x", text, file: "http://u:canary@h/")) {
      _,
      _ in nil
    }
    #expect(!shown.contains("canary"))
  }

  @Test(
    "A refused URL shows as little as a valid one",
    arguments: [
      ("https://a.example/x?token=t&a=b", "https://a.example/x?token=***&a=b"),
      ("https://u:p@a.example/x?sig=t", "https://***@a.example/x?sig=***"),
      ("https://a.example:0/x?X-Amz-Signature=t", "https://a.example:0/x?X-Amz-Signature=***"),
      ("https://a.example/x", "https://a.example/x"), ("word", "word"),
    ]
  )
  func redaction(text: String, expected: String) {
    #expect(WebURL.redacted(text) == expected)
  }

  @Test("A line of a file that holds a signed URL is not shown")
  func lines() {
    let location = SourceLocation(file: "f", line: 1, column: 1)
    for line in [
      "urls: [\"https://a.example/x?sig=canary\"]", "- https://u:canary@a.example/",
      "manifest: https://a.example/x?X-Amz-Signature=canary",
    ] {
      let shown = DiagnosticRenderer().render(Diagnostic("x", "m", at: location)) { _, _ in line }
      #expect(!shown.contains("canary"), "\(line)")
    }
  }
}
