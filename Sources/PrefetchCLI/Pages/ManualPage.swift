import PrefetchCore

enum ManualPage {
  /// Date of the last change, maintained by hand so that the page is reproducible.
  static let date = "2026-11-22"

  static func render() -> String {
    var page = Roff(name: "prefetch", section: 1, manual: "User Commands", date: date)
    page.section("NAME")
    page.line("prefetch - keep a local copy of declared content")
    synopsis(&page)
    description(&page)
    page.section("COMMANDS")
    for command in CommandTable.all { append(command.description, to: &page) }
    page.section("OPTIONS OF RUNS")
    let runs = CommandTable.all.map(\.description).filter(\.startsRuns)
    page.paragraph(
      "These options belong to " + Wording.list(runs.map { "`\($0.name)`" }) + "."
    )
    for option in runs.first?.options ?? [] where option.section == .runs {
      append(option, to: &page)
    }
    page.section("OPTIONS")
    page.paragraph(
      "Every command takes these options, anywhere on the command line. `env`, `schedule`, `completion`, `help` and `manifest` have no JSON form and end with 64 if `--json` is given."
    )
    for option in CommandTable.sharedOptions { append(option, to: &page) }
    environment(&page)
    files(&page)
    exitStatus(&page)
    page.section("SIGNALS")
    for text in ManualProse.signals { page.paragraph(text) }
    examples(&page)
    page.section("SEE ALSO")
    page.line(
      "`prefetch-guide`(7), `prefetch-sdk`(7), `prefetch.yaml`(5), `prefetch-manifest`(5), `prefetch-report`(5), `curl`(1)"
    )
    return page.text
  }

  private static func synopsis(_ page: inout Roff) {
    page.section("SYNOPSIS")
    page.line(
      "`prefetch` [\("OPTION".asPlaceholder)…] [\("COMMAND".asPlaceholder)] [\("ARGUMENT".asPlaceholder)…]"
    )
  }

  private static func description(_ page: inout Roff) {
    page.section("DESCRIPTION")
    for text in ManualProse.description { page.paragraph(text) }
  }

  private static func append(_ command: CommandDescription, to page: inout Roff) {
    page.subsection("prefetch \(command.name)")
    let forms = command.forms.isEmpty ? [command.operands.synopsis] : command.forms
    let calls = forms.filter { !$0.isEmpty }.map { "`\(command.name)` \($0.asPlaceholder)" }
    let exits = command.exits.map { String($0.code) }.joined(separator: ", ")
    page.paragraph(
      command.summary.asSentence
        + (calls.isEmpty ? "" : " Called as " + calls.joined(separator: ", or ") + ".")
        + " Exit status: \(exits)."
    )
    for text in command.paragraphs { page.paragraph(text) }
    for option in command.ownOptions where option.section == .command { append(option, to: &page) }
    if command.startsRuns { page.paragraph("The options of every run are in OPTIONS OF RUNS.") }
  }

  private static func append(_ option: OptionDescription, to page: inout Roff) {
    let names = [option.short.map { "`-\($0)`" }, "`\(option.spelling)`"].compactMap(\.self)
    let term = names.joined(separator: ", ")
    switch option.argument {
    case .none: page.entry(term, option.help.asSentence)
    case .required(let placeholder, _):
      page.entry("\(term) \(placeholder.asPlaceholder)", option.help.asSentence)
    case .optional(let placeholder, _):
      page.entry("\(term)[`=`\(placeholder.asPlaceholder)]", option.help.asSentence)
    }
  }

  private static func environment(_ page: inout Roff) {
    page.section("ENVIRONMENT")
    for text in ManualProse.environment { page.paragraph(text) }
    for (name, text) in ManualProse.variables { page.entry("`\(name)`", text) }
  }

  private static func files(_ page: inout Roff) {
    page.section("FILES")
    for text in ManualProse.files { page.paragraph(text) }
    for (path, text) in ManualProse.paths { page.entry("`\(path)`", text) }
  }

  private static func exitStatus(_ page: inout Roff) {
    page.section("EXIT STATUS")
    page.paragraph(ManualProse.exitStatus)
    for status in ExitStatus.allCases {
      page.entry("`\(status.code)` \(status.name)", status.meaning.asSentence.capitalizingFirst)
    }
  }

  private static func examples(_ page: inout Roff) {
    page.section("EXAMPLES")
    page.paragraph("`prefetch help` \("COMMAND".asPlaceholder) has more for each command.")
    for example in HelpPages.overviewExamples {
      page.paragraph(example.purpose + ":")
      page.literal(example.command)
    }
  }
}

extension String {
  fileprivate var capitalizingFirst: String {
    prefix(1).uppercased() + dropFirst()
  }
}
