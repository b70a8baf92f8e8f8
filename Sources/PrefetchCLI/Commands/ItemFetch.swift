import PrefetchConfig
import PrefetchCore
import PrefetchEngine
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// Single items from the network into the cache, and out of it again where they may not stay.
struct ItemFetch {
  let context: CommandContext
  let builder: RequestBuilder
  let places: Places

  func fetch(_ items: [WantedItem]) throws(CommandExit) -> Report {
    var request = RunRequest(
      mode: .get,
      identity: builder.identity,
      segments: WantedItem.segments(of: items),
      policy: builder.policy
    )
    // Whoever asked wants to hear of each, unchanged or not.
    request.listsKept = true
    let wanted = request
    return try context.reading { () throws(Failure) in
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall,
        durability: Durability(builder.configuration.cache.durability)
      )
      context.console.report(store.takeDiagnostics())
      let settings = builder.transportSettings { context.environment.variables[$0] }
      let engine = Engine(
        transport: try CurlTransport(
          settings: settings,
          staging: store.staging,
          clock: context.clock
        ),
        store: store,
        files: SystemFiles(),
        clock: context.clock,
        stop: ProcessStop()
      )
      let report = try engine.run(wanted, seed: UInt64.random(in: 0...UInt64.max))
      try store.close()
      return report
    }
  }

  /// The URLs whose every declaration was met by what came.
  static func answered(_ report: Report?) -> Set<String> {
    let items = report?.items ?? []
    let unmet = items.filter { $0.failure != nil || $0.deferral != nil || !$0.isUsable }
    return Set(items.map(\.url)).subtracting(unmet.map(\.url))
  }

  // MARK: What may not be kept

  /// What came with `no-store` and belongs to no segment.
  func unkept(_ fetched: Set<String>) throws(CommandExit) -> Set<String> {
    guard !fetched.isEmpty, let store = try context.readingStore(places) else { return [] }
    return try context.reading { () throws(Failure) in
      var unkept: Set<String> = []
      for url in fetched {
        guard let record = try store.record(url: url),
          CacheControl(record.headers.combined("Cache-Control")).hasNoStore,
          try store.segmentsHolding(url: url).isEmpty
        else { continue }
        unkept.insert(url)
      }
      return unkept
    }
  }

  func forget(_ urls: Set<String>) throws(CommandExit) {
    guard !urls.isEmpty else { return }
    try context.reading { () throws(Failure) in
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall
      )
      _ = try store.remove(urls: urls.sorted())
      try store.close()
    }
  }
}
