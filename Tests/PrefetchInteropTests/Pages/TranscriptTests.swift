import PrefetchCore
import PrefetchTestSupport
import Testing

/// Runs each file of `Transcripts/` as a new user, and compares the output.
@Suite("A transcript", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TranscriptTests {
  private let site: Site
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = Site()
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  static let names = FileTree.names(RepositoryPage.path(Transcript.folder))

  @Test("A transcript shows the output that its commands have", arguments: names)
  func played(name: String) throws {
    for step in try Transcript(name).steps {
      switch step {
      case .file(let name, let text):
        let text = text.replacing(Transcript.shownOrigin, with: server.address("/"))
        if name.hasPrefix("origin/") {
          let (path, page) = Self.page(name.dropFirst("origin".count), text)
          site[path] = page
        } else {
          home.write(text, to: name)
        }
      case .command(let command):
        let (output, status) = command.outcome
        let typed = command.text.replacing(Transcript.shownOrigin, with: server.address("/"))
        let run = try home.shell("prefetch() { \"$prefetch\" \"$@\"; }\n{ \(typed)\n} 2>&1")
        let shown = shown(run.output)
        #expect(
          run.status == status && Transcript.holds(Mask.covered(Array(output))[...], shown[...]),
          "$ \(command.text)\n\(shown.joined(separator: "\n"))\n[\(run.status)]"
        )
      case .aside(let script):
        Issue.record("no transcript hides a script: \(script)")
      }
    }
  }

  /// Returns path and response of `/NAME [STATUS [HEADER: VALUE]]`.
  private static func page(_ title: Substring, _ text: String) -> (String, Site.Page) {
    let words = title.split(separator: " ", maxSplits: 2).map(String.init)
    var page = Site.Page(text)
    if words.count > 1 { page.status = Int(words[1]) ?? 500 }
    if words.count > 2, let mark = words[2].firstRange(of: ": ") {
      let (name, value) = (words[2][..<mark.lowerBound], words[2][mark.upperBound...])
      page.headers.append(HeaderField(String(name), String(value)))
    }
    return (words[0], page)
  }

  /// Returns the output as a transcript shows it.
  private func shown(_ output: String) -> [String] {
    let text = output.replacing(server.address("/"), with: Transcript.shownOrigin)
      .replacing(home.work, with: Transcript.shownHome)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return Mask.covered(lines)
  }
}
