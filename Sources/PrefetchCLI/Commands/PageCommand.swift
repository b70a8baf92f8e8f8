import PrefetchCore
import PrefetchDocuments

/// `help`, `completion` and `--version`: pages that need nothing but the tables.
struct PageCommand {
  let context: CommandContext

  func help(_ topic: HelpTopic) -> Int32 {
    plain { HelpPages.render(topic) }
  }

  func completion(_ shell: Shell) -> Int32 {
    plain { CompletionScript.render(for: shell) }
  }

  func version() -> Int32 {
    let libraries = ToolVersions.libraries
    if context.shared.isJSON {
      let head: [(String, JSONValue)] = [
        ("schema", "prefetch-version/1"), ("name", .string(ToolVersions.name)),
        ("version", .string(ToolVersions.version)),
        ("commit", ToolVersions.commit.map { .string($0) } ?? .null),
        ("tag", ToolVersions.tag.map { .string($0) } ?? .null),
      ]
      context.console.print(.object(head + libraries.map { ($0.name, .string($0.version)) }))
    } else {
      context.console.print("\(ToolVersions.name) \(ToolVersions.version)")
      if let commit = ToolVersions.commit { context.console.print("commit \(commit)") }
      if let tag = ToolVersions.tag { context.console.print("tag \(tag)") }
      for library in libraries { context.console.print("\(library.name) \(library.version)") }
    }
    return ExitStatus.ok.code
  }

  private func plain(_ page: () -> String) -> Int32 {
    guard !context.shared.isJSON else {
      let diagnostic = Diagnostic(
        "usage.no-json",
        "this page has no JSON form, so leave out `--json`"
      )
      return context.console.fail(.usage, [diagnostic])
    }
    let text = page()
    context.console.print(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    return ExitStatus.ok.code
  }
}
