import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchServe
import PrefetchStore
import PrefetchSystem

struct ServeCommand: Command {
  let context: CommandContext
  let options: ServeOptions
  private let log: ServeLog

  init(context: CommandContext, options: ServeOptions) {
    self.context = context
    self.options = options
    log = ServeLog(context.shared)
  }

  func run() throws(CommandExit) -> Int32 {
    if options.pulls { try context.prepareTransfers() }
    if let folder = options.origin { return try serve(folder: folder) }
    return try serveCache()
  }

  // MARK: A folder

  private func serve(folder: String) throws(CommandExit) -> Int32 {
    let server = try starting { () throws(Failure) in
      try listen(FolderResponder(folder))
    }
    return try serve(server, nil) {
    } stopping: {
    } closing: {
    }
  }

  /// Serves until the end; calls `stopping` before clients are disconnected, `closing` after.
  private func serve(
    _ server: LocalServer,
    _ served: (loaded: LoadedConfiguration, locations: CacheLocations)?,
    look: () -> Void,
    stopping: () -> Void,
    closing: () throws(CommandExit) -> Void
  ) throws(CommandExit) -> Int32 {
    let events = try context.reading { () throws(Failure) in
      try ServeEvents(options, served, context: context)
    }
    announce(server)
    events.started(at: server.address)
    let signal = wait(for: server, look)
    stopping()
    server.stop()
    log.print(to: context.console)
    try closing()
    let hasFailed = events.stopped(at: server.address)
    if signal == nil, hasFailed { return ExitStatus.failed.code }
    return signal.map { 128 + $0 } ?? ExitStatus.ok.code
  }

  // MARK: The cache

  private func serveCache() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    if options.pulls { try context.requireTrustFiles(loaded) }
    let objections = options.skipsHooks ? [] : HookTrust.diagnostics(loaded)
    guard objections.isEmpty else { throw context.failed(.config, objections) }
    let generations = ServedGenerations(
      cache: BodyPaths(cache: locations.cache, lower: locations.lower?.paths ?? []),
      clock: context.clock
    )
    let cache = ServedCache(
      locations,
      hasOwnWriters: options.pulls,
      identity: loaded.identity,
      granted: GrantedLifetimes(loaded.configuration),
      generations: generations
    )
    let stop = ServeStop()
    let sessions = sessions(loaded, locations)
    let lanes =
      options.pulls && mayPull(loaded) ? lanes(loaded, locations, cache, stop, sessions) : nil
    let servedURLs = ServedURLCounts(
      AnalyticsSetup(loaded, publisher: context.builder(loaded).publisher),
      hiding: context.console.needles
    )
    let responder = CacheResponder(
      source: cache,
      puller: lanes,
      base: options.base,
      clock: context.clock,
      listener: servedURLs.listener
    )
    let record = ServeRecord(
      cache: cache,
      counts: responder.counts,
      servedURLs: servedURLs,
      locations: locations
    )
    let events = options.acceptsEvents ? events(loaded, locations) : nil
    let server = try starting { () throws(Failure) in try listen(responder, events) }
    return try serve(server, (loaded, locations)) {
      cache.rest()
      sessions.rest()
      warn(of: generations.consumeTrouble())
      record.keep(at: context.clock.now().wall)
    } stopping: {
      stop.set()
    } closing: { () throws(CommandExit) in
      lanes?.close()
      sessions.close()
      record.keep(at: context.clock.now().wall, isLast: true)
      try context.reading { () throws(Failure) in try cache.close() }
    }
  }

  private func warn(of trouble: Failure?) {
    guard let trouble else { return }
    context.console.report(
      "serve.no-lease",
      "players of a stream are cut off when it is replaced: \(trouble.message)",
      severity: .warning
    )
  }

  private func mayPull(_ loaded: LoadedConfiguration) -> Bool {
    let publisher = context.builder(loaded).publisher
    let isOff = publisher?.switchedOff.contains(.pullThrough) == true
    guard isOff || !loaded.configuration.features.pullsThrough else { return true }
    context.console.report(
      "serve.switched-off",
      isOff
        ? "the publisher has switched `pull_through` off: only stored items are served"
        : "`features.pull_through` is false: only stored items are served",
      severity: .warning
    )
    return false
  }

  private func lanes(
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations,
    _ cache: ServedCache,
    _ stop: ServeStop,
    _ sessions: ItemSessions
  ) -> PullLanes {
    let pull = ItemPull(
      sessions: sessions,
      loaded: loaded,
      locations: locations,
      cache: cache,
      maximumStale: maximumStale(loaded),
      log: log,
      stop: stop
    )
    let policy = loaded.configuration.policy
    // Requests of one lane never wait for each other's connections.
    let together = min(policy.concurrency, policy.assuredPerHost)
    return PullLanes(limit: Self.lanes, together: together) { pull.bring($0, $1) }
  }

  private func sessions(_ loaded: LoadedConfiguration, _ locations: CacheLocations) -> ItemSessions
  {
    let (environment, shared, sources) = (context.environment, context.shared, context.sources)
    return ItemSessions {
      // Consoles and sessions each belong to one thread.
      let console = Console(shared: shared, environment: environment, log: nil)
      console.secrets = loaded.secrets
      let context = CommandContext(
        environment: environment,
        console: console,
        clock: SystemClock(),
        shared: shared,
        sources: sources
      )
      return ItemSession(context: context, loaded: loaded, locations: locations, isLasting: true)
    }
  }

  private func events(_ loaded: LoadedConfiguration, _ locations: CacheLocations) -> EventDesk {
    let (environment, sources) = (context.environment, context.sources)
    var shared = context.shared
    // Errors go to the client, not to the console.
    (shared.isJSON, shared.isQuiet) = (false, true)
    let quiet = shared
    return EventDesk {
      let console = Console(shared: quiet, environment: environment, log: nil)
      console.secrets = loaded.secrets
      let context = CommandContext(
        environment: environment,
        console: console,
        clock: SystemClock(),
        shared: quiet,
        sources: sources
      )
      return EventRecording(context: context, loaded: loaded, locations: locations)
    }
  }

  /// Lanes; a client waits in each, so a slow server does not block the others.
  private static let lanes = 16

  private func maximumStale(_ loaded: LoadedConfiguration) -> Duration {
    switch options.maximumStaleness {
    case nil: loaded.configuration.policy.maximumStale
    case .bare: .seconds(Int64.max / 2)
    case .value(let limit): limit
    }
  }

  // MARK: Serving

  private func access() throws(Failure) -> ServeAccess {
    ServeAccess(
      origin: options.allowedOrigin,
      token: try options.tokenFile.map { path throws(Failure) in try token(in: path) }
    )
  }

  private func token(in path: String) throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(FileReading.Fault) {
      bytes = try FileReading.read(path, limit: 4096)
    } catch {
      throw Failure(.disk, "`--token-file \(path)`: \(error.reason)")
    }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let token = line.filter { $0 != "\r" }
    let hasOnlyTokenCharacters = token.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0))
    }
    guard token.utf8.count >= Self.shortestToken, hasOnlyTokenCharacters else {
      throw Failure(
        .disk,
        "`--token-file \(path)`: its first line has to be \(Self.shortestToken) or more of letters, digits and `-._~`"
      )
    }
    return token
  }

  private static let shortestToken = 16

  private func listen(
    _ responder: any Responder,
    _ events: (any EventReceiver)? = nil
  ) throws(Failure) -> LocalServer {
    let access = try access()
    if let descriptor = try InheritedSocket.adopt(context.environment.variables) {
      return try LocalServer(
        inherited: descriptor,
        responder: responder,
        access: access,
        listener: log.listener,
        events: events
      )
    }
    return try LocalServer(
      listen: options.listen,
      responder: responder,
      access: access,
      listener: log.listener,
      events: events
    )
  }

  private func starting(
    _ start: () throws(Failure) -> LocalServer
  ) throws(CommandExit) -> LocalServer {
    do throws(Failure) {
      return try start()
    } catch {
      throw context.failed(.io, "serve.address", error.message)
    }
  }

  private func wait(for server: LocalServer, _ look: () -> Void) -> Int32? {
    let end = options.lifetime.map { ContinuousClock.now + $0 }
    while true {
      let left = end.map { ContinuousClock.now.duration(to: $0) }
      guard left ?? .seconds(1) > .zero else { return nil }
      let pause = log.isVerbose ? Self.watchedPause : Self.pause
      if let signal = StopSignals.wait(upTo: min(left ?? pause, pause)) { return signal }
      server.endSlowRequests()
      log.print(to: context.console)
      look()
    }
  }

  private static let pause = Duration.seconds(1)
  private static let watchedPause = Duration.milliseconds(100)

  private func announce(_ server: LocalServer) {
    warnOfOtherMachines(server)
    if context.shared.isJSON {
      context.console.print(["schema": "prefetch-serve/1", "address": .string(server.address)])
    } else {
      context.console.print(server.address)
    }
    context.console.flush()
    guard let descriptor = options.readyDescriptor else { return }
    let ready = StandardOutput(descriptor: Int32(descriptor))
    ready.write(server.address + "\n")
    _ = ready.flush()
    // Closing ends the wait of a process that reads to the end.
    if descriptor > 2 { ready.close() }
  }

  /// Warns if the address is not on loopback, since other machines can read from it then.
  private func warnOfOtherMachines(_ server: LocalServer) {
    guard !server.isLoopback else { return }
    let thing = options.origin == nil ? "the cache" : "the folder"
    context.console.report(
      "serve.not-loopback",
      "`\(server.address)` can be reached from other machines, which may read \(thing)",
      severity: .warning,
      hint: "listen on 127.0.0.1 or [::1] unless this is intended"
    )
  }
}
