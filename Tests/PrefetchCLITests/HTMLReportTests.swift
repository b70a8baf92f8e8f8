import PrefetchCrypto
import PrefetchStore
import Testing

@testable import PrefetchCLI
@testable import PrefetchCore

@Suite("The report as a page")
struct HTMLReportTests {
  private static func page(_ change: (inout ReportEnvelope) -> Void = { _ in }) -> String {
    var envelope = ReportFixture().envelope
    change(&envelope)
    return ReportHTML(envelope: envelope).text
  }

  private static let rich = page()

  /// Returns the text between the first occurrences of two texts.
  private static func part(of page: String, from start: String, to end: String) throws -> String {
    let first = try #require(page.firstRange(of: start))
    let rest = page[first.upperBound...]
    return String(rest[..<(try #require(rest.firstRange(of: end))).lowerBound])
  }

  private static func style() throws -> String {
    try part(of: rich, from: "<style>", to: "</style>")
  }

  // MARK: Colours

  private static func colours(_ block: Substring) -> [String: String] {
    var colours: [String: String] = [:]
    for match in block.matches(of: /--([a-z]+):(#[0-9a-f]{6})/) {
      colours[String(match.1)] = String(match.2)
    }
    return colours
  }

  /// Returns WCAG 2's relative luminance.
  private static func luminance(_ colour: String) -> Double {
    let digits = Array(colour.dropFirst())
    let channels = stride(from: 0, to: 6, by: 2).map { index in
      Double(Int(String(digits[index...index + 1]), radix: 16) ?? 0) / 255
    }
    let linear = channels.map { value in
      value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055)
    }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  /// To the 2.4, which is the square and the square of the fifth root, that by Newton's way.
  private static func power(_ value: Double) -> Double {
    var root = 1.0
    for _ in 0..<60 {
      root -= (root * root * root * root * root - value) / (5 * root * root * root * root)
    }
    return value * value * root * root
  }

  private static func contrast(_ a: String, _ b: String) -> Double {
    let (one, other) = (luminance(a), luminance(b))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
  }

  @Test("The computed contrast equals the known one of some pairs of colours")
  func reckoning() {
    #expect(abs(Self.contrast("#000000", "#ffffff") - 21) < 0.001)
    #expect(abs(Self.contrast("#767676", "#ffffff") - 4.54) < 0.01)
    #expect(abs(Self.contrast("#ff0000", "#ffffff") - 3.998) < 0.01)
  }

  @Test("Every text has enough contrast on every background, in light and in dark")
  func contrast() throws {
    let style = try Self.style()
    let roots = style.matches(of: /:root\{([^}]*)\}/).map { Self.colours($0.1) }
    #expect(roots.count == 2 && roots.first?.keys == roots.last?.keys)
    let used = { (pattern: Regex<(Substring, Substring)>) in
      Set(style.matches(of: pattern).map { String($0.1) })
    }
    let texts = used(/[;{]color:var\(--([a-z]+)\)/)
    let grounds = used(/[;{]background:var\(--([a-z]+)\)/)
    let shapes = used(/fill:var\(--([a-z]+)\)/)
    #expect(texts.count >= 6 && grounds == ["page", "panel"] && shapes.count >= 6)
    for colours in roots {
      for ground in grounds {
        let below = try #require(colours[ground])
        for text in texts {
          let ratio = Self.contrast(try #require(colours[text]), below)
          #expect(ratio >= 4.5, "\(text) on \(ground): \(ratio)")
        }
        for shape in shapes {
          let ratio = Self.contrast(try #require(colours[shape]), below)
          #expect(ratio >= 3, "\(shape) on \(ground): \(ratio)")
        }
      }
    }
  }

  @Test("Colours are only in the two lists")
  func noOtherColours() throws {
    let rest = try Self.style().replacing(/:root\{[^}]*\}/, with: "")
    #expect(rest.matches(of: /#[0-9a-fA-F]{3}|rgb|hsl|opacity/).isEmpty)
    #expect(Self.rich.matches(of: #/ (?:fill|stroke|style|color|bgcolor)="/#).isEmpty)
  }

  // MARK: Markup

  @Test("Every tag is closed, in its order")
  func balance() throws {
    let page = Self.rich.replacing(/<style>[^<]*<\/style>/, with: "")
    var open: [Substring] = []
    for tag in page.matches(of: /<(\/?)([a-z0-9]+)[^>]*?(\/?)>/) {
      if ["meta", "link", "wbr"].contains(tag.2) || !tag.3.isEmpty { continue }
      if tag.1.isEmpty {
        open.append(tag.2)
      } else {
        #expect(open.popLast() == tag.2)
      }
    }
    #expect(open == [])
  }

  @Test("Headings of tables have scopes, and pictures have labels")
  func labels() {
    let heads = Self.rich.matches(of: /<th [^>]*>/).map { String($0.0) }
    #expect(!heads.isEmpty && !Self.rich.contains("<th>"))
    #expect(heads.allSatisfy { $0.contains("scope=\"col\"") || $0.contains("scope=\"row\"") })
    #expect(
      Self.rich.matches(of: #/<table /#).count == Self.rich.matches(of: /<caption>[^<]+</).count
    )
    for picture in Self.rich.matches(of: /<svg [^>]*>(?:<title>[^<]+<)?/).map({ String($0.0) }) {
      let isNamed = picture.contains("aria-label=\"") || picture.contains("<title>")
      #expect(
        picture.contains("aria-hidden=\"true\"") || picture.contains("role=\"img\"") && isNamed
      )
    }
    #expect(Self.rich.contains("<html lang=\"en\">") && Self.rich.contains("name=\"viewport\""))
    #expect(Self.rich.matches(of: /<h1>/).count == 1 && Self.rich.contains("<main>"))
  }

  @Test("Every link within the page has one target")
  func anchors() {
    let links = Self.rich.matches(of: /<a href="#([a-z]+)">/).map { String($0.1) }
    let sections = Self.rich.matches(of: /<section id="([a-z]+)"/).map { String($0.1) }
    #expect(links == sections && Set(links).count == links.count)
    #expect(
      links == [
        "totals", "failures", "notices", "segments", "bytes", "slowest", "history", "requests",
        "run",
      ]
    )
  }

  // MARK: Nothing leaves the page

  @Test("The page has no scripts and loads nothing, as its policy states")
  func policy() throws {
    let policy = try Self.part(
      of: Self.rich,
      from: "Content-Security-Policy\" content=\"",
      to: "\""
    )
    let digest = Base64.encode(SHA256.digest(of: try Self.style()).bytes)
    #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(digest)';"))
    #expect(
      Self.rich.matches(of: /<script|<iframe|<img|<form| on[a-z]+=| src=|@import|url\(/).isEmpty
    )
    let targets = Self.rich.matches(of: /href="([^"]*)"/).map { String($0.1) }
    #expect(targets.allSatisfy { $0.hasPrefix("#") || $0 == "data:," }, "\(targets)")
  }

  // MARK: Bounds

  /// Returns the page of a run with this number of segments, failed items, requests and earlier
  /// runs.
  private static func large(_ count: Int) -> String {
    page { envelope in
      let url = { (number: Int) in
        "https://host\(number % 70).example.com/\(String(repeating: "long/", count: 100))\(number)"
      }
      for number in 0..<count {
        var item = ItemResult(
          url: url(number),
          id: "\(number)",
          segments: ["basics"],
          state: .failed,
          action: .fail,
          reason: "it is gone"
        )
        item.outcome = .failed
        item.failure = Failure(.gone, "the server answered 404")
        envelope.report.items.append(item)
        var figures = TransferFigures()
        figures.started = ReportFixture.start + .milliseconds(number)
        figures.total = .milliseconds(number % 997)
        figures.wireBytes = 1000
        let request = RequestResult(
          url: try? WebURL(url(number)),
          status: 404,
          isRetry: false,
          figures: figures
        )
        envelope.transfers.add(request, in: ReportFixture.start)
        if number.isMultiple(of: 10) {
          envelope.report.diagnostics.append(Diagnostic("run.stale", "notice \(number)"))
          envelope.report.segments += envelope.report.segments.prefix(1)
          envelope.pastRuns += envelope.pastRuns.prefix(1)
        }
      }
    }
  }

  @Test("A page of many items is hardly longer than one of few, and says what it leaves out")
  func bounds() throws {
    let some = Self.large(2000)
    let many = Self.large(6000)
    #expect(many.utf8.count < some.utf8.count + some.utf8.count / 50)
    #expect(many.utf8.count < 1_000_000)
    #expect(many.contains("The 200 of 6004 requests that took longest"))
    #expect(many.contains("5804 are left out"))
    #expect(many.contains("403 of them are left out, those that are current last"))
    #expect(many.contains("older ones are left out"))
    #expect(many.contains("others; see <code>prefetch log</code>."))
    #expect(many.contains("more; <code>--report json=FILE</code> has all."))
  }

  @Test("A run without any request has a page too")
  func empty() {
    let start = Moment(wall: ReportFixture.start, uptime: .zero)
    let page = Self.page { envelope in
      envelope.report =
        ReportBuilder(mode: .run, identity: "", segments: [], at: start).finished(at: start)
      envelope.exit = .ok
      envelope.exitCode = 0
      envelope.transfers = TransferLog()
      envelope.pastRuns = []
      envelope.notices = []
    }
    #expect(page.contains("No segment was looked at"))
    #expect(
      page.matches(of: /<section id="([a-z]+)"/).map { $0.1 } == ["totals", "segments", "run"]
    )
  }

  @Test("Failures of one host and reason are listed once")
  func groups() throws {
    let page = Self.page { envelope in
      envelope.report.items = (0..<12).map { number in
        var item = ItemResult(
          url: "https://cdn.example.com/\(number)",
          id: "\(number)",
          segments: ["basics"],
          state: .failed,
          action: .fail,
          reason: "r"
        )
        item.failure = Failure(number < 11 ? .gone : .timeout, "reason \(number / 11)")
        return item
      }
    }
    let section = try Self.part(of: page, from: "<section id=\"failures\"", to: "</section>")
    #expect(section.contains("<strong>cdn.example.com: 11 items</strong> <code>gone</code>"))
    #expect(section.contains("The first 10 of 11"))
    #expect(
      section.contains("<strong>https://cdn.example.com/<wbr>11</strong> <code>timeout</code>")
    )
  }

  // MARK: Phases

  @Test("The phases of a transfer follow each other from its beginning to its end")
  func phases() {
    for request in ReportFixture().requests {
      let intervals = TransferPhases(request).intervals
      #expect(intervals.first?.from == .zero && intervals.last?.to == request.figures.total)
      #expect(zip(intervals, intervals.dropFirst()).allSatisfy { $0.to == $1.from })
    }
    #expect(
      TransferPhases(ReportFixture().requests[0]).text
        == "looking up the name 1.5 ms, connecting 12 ms, agreeing on TLS 30 ms, "
        + "waiting for a connection 0.5 ms, waiting for the answer 1.7 ms, receiving 14 ms"
    )
  }

  @Test(
    "A request that failed before it was sent spent its time in the phase of the failure",
    arguments: [
      (ErrorCode.dns, TransferPhases.Phase.lookup), (.certificate, .securing),
      (.connect, .connecting), (.timeout, .connecting),
    ]
  )
  func unsent(code: ErrorCode, phase: TransferPhases.Phase) {
    var request = RequestResult(status: nil, failure: Failure(code, "it"), isRetry: false)
    request.figures.requestCount = 0
    request.figures.total = .seconds(10)
    #expect(TransferPhases(request).intervals.map(\.phase) == [phase])
  }

  @Test(
    "Long numbers are printed in groups",
    arguments: [
      (0, "0"), (9999, "9999"), (10_000, "10\u{202F}000"), (100_010, "100\u{202F}010"),
      (1_002_034, "1\u{202F}002\u{202F}034"),
    ]
  )
  func counts(number: Int64, text: String) {
    #expect(HTMLText.count(number) == text)
  }

  @Test(
    "Time spans are printed in the shortest readable form",
    arguments: [
      (0, "0 ms"), (40, "0 ms"), (400, "0.4 ms"), (1000, "1 ms"), (9940, "9.9 ms"),
      (9960, "10 ms"), (45_678, "46 ms"), (999_499, "999 ms"), (999_600, "1 s"),
      (1_250_000, "1.25 s"), (12_000_000, "12 s"), (200_000_000, "3 m 20 s"),
    ]
  )
  func spans(microseconds: Int, text: String) {
    #expect(HTMLText.span(.microseconds(microseconds)) == text)
  }
}
