import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Output of commands", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct OutputTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/one": Site.Page("one"), "/a%20b&c": Site.Page("two")])
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    home.configure(
      """
      segments:
        - name: basics
          urls: ["\(server.address("/one"))", "\(server.address("/a%20b&c"))", "\(server.address("/none"))"]
      """
    )
  }

  @Test("A quiet run prints nothing when all is well")
  func quiet() throws {
    home.configure("segments: [{ name: basics, urls: [\(server.address("/one"))] }]")
    for _ in 0..<2 {
      let run = try home.run("-q")
      #expect(run.status == 0)
      #expect(run.output == "")
      #expect(run.errors == "")
    }
    let verify = try home.run("verify", "-q")
    #expect(verify.output + verify.errors == "")
    #expect(try home.run("list", "-q").lines.count == 1)
    #expect(try home.run("-q", "--json").json().text("exit.name") == "ok")
  }

  @Test("A run prints one line for each segment, one for each change, and one total")
  func text() throws {
    let run = try home.run()
    #expect(run.status == 3)
    #expect(run.lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix("  added  ") })
    #expect(run.lines.count == 4, "\(run)")
    #expect(run.lines.first?.hasPrefix("basics") == true)
    #expect(run.lines.last?.hasPrefix("total") == true)
  }

  @Test(
    "A report is well-formed in every rendering, also when an item failed",
    .enabled(if: Tool.isInstalled("python3"), "needs python3")
  )
  func reports() throws {
    let formats = ["json", "ndjson", "junit", "prometheus", "md", "html", "text"]
    let run = try home.start(formats.flatMap { ["--report", "\($0)=report.\($0)"] } + ["-q"])
      .finish()
    #expect(run.status == 3, "\(run)")
    for format in formats { #expect(home.read("report.\(format)")?.isEmpty == false, "\(format)") }
    home.write(
      """
      import html.parser, json, re, sys, xml.etree.ElementTree as tree
      report = json.load(open('report.json'))
      assert report['schema'] == 'prefetch-report/1' and report['totals']['failed'] == 1
      lines = [json.loads(line) for line in open('report.ndjson')]
      assert lines
      suite = tree.parse('report.junit').getroot()
      assert suite.tag in ('testsuites', 'testsuite'), suite.tag
      assert len(list(suite.iter('failure'))) + len(list(suite.iter('error'))) == 1
      sample = re.compile(r'[a-z_]+(\\{([a-z_]+="([^"\\\\\\\\]|\\\\\\\\.)*",?)*\\})? [-+0-9.eE]+$')
      for line in open('report.prometheus'):
          assert line.startswith('# ') or sample.match(line), line
      # Without an end, or with one that HTML lets a page leave out.
      optional = {'meta', 'br', 'hr', 'link', 'img', 'col', 'tr', 'td', 'th', 'li', 'p', 'wbr'}
      class Reader(html.parser.HTMLParser):
          open = []
          def handle_starttag(self, tag, attributes):
              if tag not in optional: self.open.append(tag)
          def handle_endtag(self, tag):
              assert tag in optional or self.open.pop() == tag, tag
      reader = Reader()
      reader.feed(open('report.html').read())
      assert not reader.open, reader.open
      assert '<script' not in open('report.html').read()

      """,
      to: "reports.py"
    )
    let check = try home.tool("python3", "reports.py")
    #expect(check.status == 0, "\(check)")
  }

  @Test("A report replaces a file, is appended to one, or goes to standard output")
  func destinations() throws {
    _ = try home.run("-q", "--report", "ndjson=+all.ndjson", "--report", "json=one.json")
    _ = try home.run("-q", "--report", "ndjson=+all.ndjson", "--report", "json=one.json")
    let lines = home.read("all.ndjson")?.split(separator: "\n") ?? []
    #expect(lines.count >= 2 && lines.count % 2 == 0)
    _ = try Node(json: try #require(home.read("one.json")))
    let printed = try home.run("--report", "md=-")
    #expect(printed.output.hasPrefix("#"))
  }

  @Test(
    "A command with `--json` prints one JSON document",
    arguments: [
      ["run"], ["plan"], ["list"], ["status"], ["check"], ["config"], ["verify"], ["path", "one"],
      ["explain", "one"], ["get", "one", "-o", "out"], ["--version"],
    ]
  )
  func json(_ arguments: [String]) throws {
    _ = try home.run("-q")
    let words = arguments.map { $0 == "one" ? server.address("/one") : $0 }
    let run = try home.start(words + ["--json"]).finish()
    #expect(run.output.hasSuffix("}\n"))
    if arguments != ["--version"] {
      #expect(try run.json().text("schema")?.hasPrefix("prefetch-") == true)
    } else {
      _ = try run.json()
    }
  }
}
