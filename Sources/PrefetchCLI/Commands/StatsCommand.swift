import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// `stats`: figures over the runs that are remembered.
struct StatsCommand: Command {
  let context: CommandContext
  let options: StatsOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let state = try context.readingState(places)
    let identity = loaded.files.isEmpty ? nil : loaded.identity
    let figures = try context.reading { () throws(Failure) in
      PastFigures(
        try state?.runs(of: identity) ?? [],
        try state?.responseTimes(of: identity) ?? [:]
      )
    }
    if context.shared.isJSON {
      context.console.print(figures.document)
    } else {
      for line in figures.lines { context.console.print(line) }
    }
    return ExitStatus.ok.code
  }
}
