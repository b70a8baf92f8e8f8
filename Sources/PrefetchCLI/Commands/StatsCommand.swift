import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

struct StatsCommand: Command {
  let context: CommandContext
  let options: StatsOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.readConfigurationAndLocations()
    let store = try context.readingStore(locations)
    context.report(try context.presence(loaded, locations, store), locations)
    let state = try context.readingState(locations)
    let identity = loaded.files.isEmpty ? nil : loaded.identity
    let figures = try context.reading { () throws(Failure) in
      PastFigures(
        try state?.runs(of: identity) ?? [],
        try state?.responseTimes(of: identity) ?? [:]
      )
    }
    context.console.print(figures.document, orLines: figures.lines)
    return ExitStatus.ok.code
  }
}
