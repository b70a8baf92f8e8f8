import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

/// `config`: what holds, where it came from, and what may be written.
struct ConfigCommand: Command {
  let context: CommandContext
  let options: ConfigOptions

  func run() throws(CommandExit) -> Int32 {
    if options.printsSchema {
      context.console.print(JSONSchema.configuration)
      return ExitStatus.ok.code
    }
    let loaded = try context.configuration(isRequired: true)
    if context.shared.isJSON {
      var members: [(String, JSONValue)] = [
        ("schema", "prefetch-config/1"), ("config", loaded.canonical),
      ]
      if options.showsOrigins { members.append(("origins", origins(loaded))) }
      context.console.print(.object(members))
      return ExitStatus.ok.code
    }
    switch options.format ?? .yaml {
    case .json: context.console.print(loaded.canonical)
    case .yaml: context.console.print(YAMLText.lines(loaded.canonical).joined(separator: "\n"))
    }
    if options.showsOrigins {
      for (path, origin) in loaded.origins.sorted(by: { $0.key < $1.key }) {
        context.console.print("# \(path): \(SafeText.line(Self.text(origin)))")
      }
    }
    return ExitStatus.ok.code
  }

  private func origins(_ loaded: LoadedConfiguration) -> JSONValue {
    .object(
      loaded.origins.sorted { $0.key < $1.key }.map { ($0.key, .string(Self.text($0.value))) }
    )
  }

  private static func text(_ origin: ValueOrigin) -> String {
    origin.location?.description ?? origin.source
  }
}
