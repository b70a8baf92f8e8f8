import PrefetchTestSupport

/// Servers that send Retry-After.
enum BusyRows {
  static let all = obeyed + ignored + deferred

  /// Answered well the second time.
  private static let obeyed = [429, 503].flatMap { status in
    [
      ("no time", "0"),
      ("one second", "1"),
      ("a time that is past", "Mon, 01 Jan 2001 00:00:00 GMT"),
    ].map { name, value in
      Row("\(status) until \(name)", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        guard scene.attempt == 1 else { return scene.good }
        return .respond(status, [("Retry-After", value)])
      }
    }
  }

  /// Invalid values, which count as absent.
  private static let ignored = ["-5", "soon", "1.5", "", "1 hour", "0x10"].map { value in
    Row("429 until `\(value)`", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
      guard scene.attempt == 1 else { return scene.good }
      return .respond(429, [("Retry-After", value)])
    }
  }

  private static let deferred =
    [408, 425, 429, 500, 502, 503, 504].map { status in
      Row("\(status) for an hour", "deferred 75 x1", "deferred 75 x1", "deferred 75 x1") { _ in
        .respond(status, [("Retry-After", "3600")])
      }
    }
    + [
      ("a date to come", "Fri, 31 Dec 2100 23:59:59 GMT"), ("an absurd time", "999999999"),
      ("more than 64 bits of seconds", "99999999999999999999999"),
      ("a date in the old form", "Friday, 31-Dec-50 23:59:59 GMT"),
      ("a date in C's form", "Fri Dec 31 23:59:59 2100"),
    ].map { name, value in
      Row("429 until \(name)", "deferred 75 x1", "deferred 75 x1", "deferred 75 x1") { _ in
        .respond(429, [("Retry-After", value)])
      }
    } + [
      Row("429 for an hour after a redirect", "deferred 75 x2", "deferred 75 x2", "deferred 75 x2")
      {
        scene in
        guard scene.attempt > 1 else { return scene.redirect("/other") }
        return .respond(429, [("Retry-After", "3600")])
      },
      Row("404 with Retry-After", "gone 4 x1", "gone 3 x1", "gone 4 x1") { _ in
        .respond(404, [("Retry-After", "3600")])
      },
    ]
}
