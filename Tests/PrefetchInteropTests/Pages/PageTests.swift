import PrefetchTestSupport
import Testing

/// Each command after a prompt on a page is run and must print the text below it.
@Suite(
  "Commands on the pages",
  .serialized,
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: Tool.isInstalled("curl"), "needs curl")
)
struct PageTests {
  static let pages = ["README.md", "man/prefetch-guide.7", "man/prefetch-sdk.7"]

  /// Sections with commands.
  static let sections: [DocumentedSection] = pages.flatMap { name in
    ((try? DocumentedPage(name))?.sections ?? []).compactMap { section in
      var section = section
      section.page = name
      return section.commands.isEmpty ? nil : section
    }
  }

  static let lacking = Set(sections.flatMap(\.lacking)).sorted()

  @Test(
    "The pages show the output that their commands have",
    arguments: sections.filter(\.lacking.isEmpty)
  )
  func played(section: DocumentedSection) throws {
    let (run, shown) = try PageStage().play(section)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    try #require(shown.count == section.commands.count)
    if Binary.isRecording {
      // Other sections may have been renewed meanwhile, so the page is read again.
      var page = try DocumentedPage(section.page)
      let commands = try #require(page.sections.first { $0.title == section.title }).commands
      page.renew(zip(commands, shown).map { ($0, $1.lines) })
    }
    for (number, command) in section.commands.enumerated() {
      let isStatusShown =
        number + 1 < section.commands.count && section.commands[number + 1].showsStatus
      #expect(shown[number].status == 0 || isStatusShown, "\(command.text): \(shown[number])")
      guard !Binary.isRecording else { continue }
      #expect(
        Mask.covered(shown[number].lines) == Mask.covered(command.output),
        "\(section.testDescription): \(command.text)"
      )
    }
  }

  @Test(
    "The pages use no program that is missing here",
    .enabled(if: lacking.isEmpty, "needs \(lacking.joined(separator: ", "))")
  )
  func everySection() {
    #expect(Self.lacking == [])
  }

  @Test(
    "The pages have the counted number of unplayed commands and no unclear line",
    arguments: pages
  )
  func unplayed(name: String) throws {
    let page = try DocumentedPage(name)
    #expect(page.unclear.isEmpty, "\(name): lines \(page.unclear)")
    let count = page.sections.map(\.unplayed.count).reduce(0, +)
    #expect(count == ["README.md": 2, "man/prefetch-guide.7": 9, "man/prefetch-sdk.7": 0][name])
    let titles = page.sections.map(\.title)
    #expect(Set(titles).count == titles.count)
  }
}
