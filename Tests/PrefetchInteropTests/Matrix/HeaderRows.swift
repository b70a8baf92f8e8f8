import PrefetchTestSupport

/// Odd, absent or absurd caching headers, which do not keep the body from being stored.
enum HeaderRows {
  static let all = harmless + harmful

  private static let harmless =
    [
      ("no validators", []),
      ("a weak tag", ["ETag: W/\"new\""]),
      ("an empty tag", ["ETag: \"\""]),
      ("a tag without quotes", ["ETag: new"]),
      ("a tag with quotes inside", ["ETag: \"a\"b\""]),
      ("a tag with blanks", ["ETag: \"a b  c\""]),
      ("a tag with letters beyond ASCII", ["ETag: \"ä€\""]),
      ("a tag of 2 kB", ["ETag: \"\(String(repeating: "a", count: 2_000))\""]),
      ("a tag with commas", ["ETag: \"a, b\", \"c\""]),
      ("an empty ETag header", ["ETag:"]),
      ("two tags", ["ETag: \"a\"", "ETag: \"b\""]),
      ("a tag of a star", ["ETag: *"]),
      ("a date of change", ["Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"]),
      (
        "a date of change equal to Date",
        [
          "Last-Modified: Fri, 20 Nov 2026 00:00:00 GMT",
          "Date: Fri, 20 Nov 2026 00:00:00 GMT",
        ]
      ),
      ("a date of change to come", ["Last-Modified: Fri, 31 Dec 2100 00:00:00 GMT"]),
      ("a date of change in 1970", ["Last-Modified: Thu, 01 Jan 1970 00:00:00 GMT"]),
      ("a date of change that is none", ["Last-Modified: yesterday"]),
      (
        "a Date ten years ago",
        ["Date: Sun, 20 Nov 2016 00:00:00 GMT", "Cache-Control: max-age=60"]
      ),
      (
        "a Date ten years ahead",
        ["Date: Thu, 20 Nov 2036 00:00:00 GMT", "Cache-Control: max-age=60"]
      ),
      ("a Date that is none", ["Date: now", "Expires: later"]),
      (
        "two Dates", ["Date: Sun, 20 Nov 2016 00:00:00 GMT", "Date: Thu, 20 Nov 2036 00:00:00 GMT"]
      ),
      ("a Date in the year 9999", ["Date: Fri, 31 Dec 9999 23:59:59 GMT"]),
      ("a huge Age", ["Age: 99999999999999999999", "Cache-Control: max-age=60"]),
      ("a negative Age", ["Age: -5", "Cache-Control: max-age=60"]),
      ("a huge max-age", ["Cache-Control: max-age=99999999999999999999"]),
      ("a negative max-age", ["Cache-Control: max-age=-1"]),
      ("two of max-age", ["Cache-Control: max-age=1, max-age=100"]),
      (
        "rules that contradict each other",
        ["Cache-Control: no-store, max-age=60, immutable, no-cache"]
      ),
      ("no-store", ["Cache-Control: no-store"]),
      ("private", ["Cache-Control: private, no-cache=\"Set-Cookie\""]),
      ("must-revalidate", ["Cache-Control: must-revalidate, max-age=0"]),
      ("immutable", ["Cache-Control: max-age=31536000, immutable"]),
      ("rules that are none", ["Cache-Control: ,,=, max-age, \"", "Pragma: no-cache"]),
      ("Vary: *", ["Vary: *", "Cache-Control: max-age=60"]),
      ("Vary with everything", ["Vary: Accept-Encoding, User-Agent, Cookie, *"]),
      ("Expires of 0", ["Expires: 0"]),
      ("a cookie", ["Set-Cookie: a=b; Path=/"]),
      ("another service", ["Alt-Svc: h3=\":1\"; ma=99999"]),
      ("strict transport", ["Strict-Transport-Security: max-age=99999"]),
      ("a refresh", ["Refresh: 0; url=http://127.0.0.1:1/"]),
      ("a name for the file", ["Content-Disposition: attachment; filename=\"../../etc/passwd\""]),
      ("a place elsewhere", ["Content-Location: /other", "Location: /other"]),
      ("two types", ["Content-Type: text/plain", "Content-Type: text/html"]),
      ("a type that is none", ["Content-Type: ////;;;"]),
      ("two hundred headers", (0..<200).map { "X-\($0): y" }),
    ].map { name, lines in
      Row(name, "added 0 x1", "updated 0 x1", "added 0 x1") { scene in
        let length = ["Content-Length: \(scene.body.count)"]
        return Script([.send(scene.head(200, length + lines) + scene.body)])
      }
    }

  private static let harmful =
    [
      ("a tag of a megabyte", "ETag: \"\(String(repeating: "a", count: 1_000_000))\"\r\n"),
      ("a tag with a line end", "ETag: \"a\r\n b\"\r\n"),
      ("a tag with a carriage return", "ETag: \"a\rX: b\"\r\n"),
      ("a tag with a zero byte", "ETag: \"a\u{0}b\"\r\n"),
      ("a type with a bell", "Content-Type: text/\u{7}plain\r\n"),
    ].map { name, head in
      Row(
        name,
        "bad_response 4 x1",
        "bad_response 3 x1",
        "bad_response 4 x1",
        head: "\(head)Content-Length: 5\r\n"
      )
    }
}
