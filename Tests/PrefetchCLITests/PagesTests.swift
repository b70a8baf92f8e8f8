import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

@testable import PrefetchCLI

@Suite struct PagesTests {
  @Test("The overview lists commands and shared options")
  func overview() {
    RepositoryFile.snapshot("help.txt").expect(HelpPages.render(.overview))
    RepositoryFile.snapshot("help-all.txt").expect(HelpPages.render(.all))
  }

  @Test("The overview fits on one screen, and the page of all commands names each of them")
  func oneScreen() {
    #expect(HelpPages.render(.overview).utf8.count { $0 == 0x0A } <= 40)
    let all = HelpPages.render(.all)
    for command in CommandTable.all {
      #expect(all.contains("\n  \(command.name)"), "\(command.name)")
      let group = HelpPages.render(.group(command.description.group))
      #expect(group.contains("  \(command.name)"), "\(command.name)")
    }
  }

  @Test("Each command has its own page", arguments: CommandTable.all.map(\.name))
  func commandPage(name: String) {
    let file = "help-\(name.replacing(" ", with: "-")).txt"
    RepositoryFile.snapshot(file).expect(HelpPages.render(.command(name)))
  }

  @Test("The exit codes are a table")
  func exitCodes() {
    RepositoryFile.snapshot("help-exit-codes.txt").expect(HelpPages.render(.exitCodes))
  }

  @Test("Every page of help has two examples before its options")
  func examplesFirst() throws {
    for topic in [HelpTopic.overview, .all] + CommandTable.all.map({ .command($0.name) }) {
      let lines = HelpPages.render(topic).split(separator: "\n")
      let begin = try #require(lines.firstIndex(of: "Examples"), "\(topic)")
      let options = lines.firstIndex { $0.hasPrefix("Options") } ?? lines.endIndex
      #expect(
        lines[begin..<options].count { $0.contains("prefetch ") || $0 == "    prefetch" } >= 2
      )
    }
  }

  @Test("No line of help is wider than a terminal, but for examples and calls")
  func width() {
    let topics = [HelpTopic.overview, .exitCodes] + CommandTable.all.map { .command($0.name) }
    for line in topics.flatMap({ HelpPages.render($0).split(separator: "\n") }) {
      let programs = ["prefetch", "mpv", "set -o", "curl"]
      let isVerbatim = programs.contains { line.hasPrefix("    \($0)") }
      #expect(isVerbatim || line.count <= PageText.width, "\(line)")
    }
  }

  @Test("The manual page in man/ is the generated one")
  func manualPage() {
    RepositoryFile.top("man/prefetch.1").expect(ManualPage.render())
  }

  @Test(
    "The manual page has at most 32 lines a command, as a terminal shows it",
    .enabled(if: Tool.isInstalled("mandoc"), "needs mandoc")
  )
  func manualLength() throws {
    let page = RepositoryFile.top("man/prefetch.1").path
    let shown = try #require(Tool("mandoc")).run(["-T", "ascii", "-O", "width=78", page])
    let lines = shown.output.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(shown.status == 0)
    #expect(lines <= 32 * CommandTable.all.count, "\(lines)")
  }

  @Test("The manual page of the configuration is the generated one")
  func configurationManual() {
    RepositoryFile.top("man/prefetch.yaml.5").expect(ConfigurationManual.render())
  }

  @Test("The JSON Schema in man/ is the generated one")
  func configurationSchema() {
    let text = JSONWriter.string(JSONSchema.configuration, form: .pretty) + "\n"
    RepositoryFile.top("man/prefetch.schema.json").expect(text)
  }

  @Test("The completion scripts follow the table", arguments: Shell.allCases)
  func completion(shell: Shell) {
    RepositoryFile.snapshot("completion.\(shell.rawValue)").expect(
      shell.completions
    )
  }

  @Test(
    "Each shell can parse its completion script",
    arguments: Shell.allCases.filter { Tool.isInstalled($0.rawValue) }
  )
  func completionSyntax(shell: Shell) throws {
    let tool = try #require(Tool(shell.rawValue))
    let file = RepositoryFile.snapshot("completion.\(shell.rawValue)")
    let result = tool.run(["-n", file.path])
    #expect(result.status == 0)
    #expect(result.output == "")
  }

  @Test(
    "`mandoc` has no complaint about the manual pages",
    .enabled(if: Tool.isInstalled("mandoc")),
    arguments: [
      "prefetch.1", "prefetch.yaml.5", "prefetch-guide.7", "prefetch-manifest.5",
      "prefetch-report.5", "prefetch-sdk.7",
    ]
  )
  func manualLint(page: String) throws {
    let mandoc = try #require(Tool("mandoc"))
    let result = mandoc.run(["-T", "lint", RepositoryFile.top("man/\(page)").path])
    #expect(result.status == 0)
    #expect(result.output == "")
  }

  @Test("A page of configuration keys has headings, defaults and marks")
  func configurationPage() throws {
    let page = ConfigurationPage.render(
      rows: [
        ConfigurationKeyRow(
          path: "version",
          type: "number",
          defaultValue: "1",
          help: "The version of this language"
        ),
        ConfigurationKeyRow(
          path: "cache.size",
          type: "size",
          defaultValue: "unlimited",
          help: "How much the cache may hold; see `cache.purge`"
        ),
      ],
      before: [ConfigurationProse(title: "Description", paragraphs: ["One file."], example: nil)],
      after: [
        ConfigurationProse(
          title: "Examples",
          paragraphs: ["A start:"],
          example: "segments:\n  - name: basics\n    urls: ['https://example.org/a.json']\n.hidden"
        )
      ]
    )
    RepositoryFile.snapshot("configuration-page.5").expect(page)
    guard let mandoc = Tool("mandoc") else { return }
    let result = mandoc.run(["-T", "lint", RepositoryFile.snapshot("configuration-page.5").path])
    #expect(result.output == "")
  }
}
