import PrefetchCore
import PrefetchDocuments

struct PageCommand: Command {
  let context: CommandContext
  let page: () -> String

  func run() throws(CommandExit) -> Int32 {
    guard !context.shared.isJSON else {
      let message = "this page has no JSON form, so leave out `--json`"
      throw context.failed(.usage, "usage.no-json", message)
    }
    let text = page()
    context.console.print(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    return ExitStatus.ok.code
  }
}

struct VersionCommand: Command {
  let context: CommandContext

  func run() throws(CommandExit) -> Int32 {
    let libraries = ToolVersions.libraries
    if context.shared.isJSON {
      let head: [(String, JSONValue)] = [
        ("schema", "prefetch-version/1"), ("name", .string(ToolVersions.name)),
        ("version", .string(ToolVersions.version)), ("commit", .optional(ToolVersions.commit)),
        ("tag", .optional(ToolVersions.tag)),
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
}
