import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

struct CommandContext {
  let environment: ProcessEnvironment
  let console: Console
  let clock: SystemClock
  let shared: SharedOptions
  let sources: [String: OptionSource]
  let pendingRun = PendingRun()
}

/// Early end of a command whose messages have been printed.
struct CommandExit: Error {
  var status: Int32
}

extension CommandContext {
  func failed(_ status: ExitStatus, _ diagnostics: [Diagnostic]) -> CommandExit {
    CommandExit(status: console.fail(status, diagnostics))
  }

  func failed(
    _ status: ExitStatus,
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil
  ) -> CommandExit {
    failed(status, [Diagnostic(code, message, hint: hint)])
  }

  /// Returns the configuration or ends the command; `needsSources` is for fetching manifests.
  func configuration(
    isRequired: Bool,
    needsSources: Bool = false,
    allowsUnsetSecrets: Bool = false,
    searches: Bool = true,
    declaring own: [Override] = []
  ) throws(CommandExit) -> LoadedConfiguration {
    let loaded = loadConfiguration(
      isRequired: isRequired,
      needsSources: needsSources,
      allowsUnsetSecrets: allowsUnsetSecrets,
      searches: searches,
      declaring: own
    )
    guard !loaded.hasErrors else {
      throw failed(loaded.hasUsageErrors ? .usage : .config, loaded.diagnostics)
    }
    console.report(loaded.diagnostics)
    console.report(loaded.notices)
    return loaded
  }

  /// Whether `--cache-dir` names the cache of a mirror, with the state in the same folder.
  var namesMirror: Bool {
    guard shared.mayNameMirror, let folder = shared.cacheDirectory else { return false }
    if FileReading.exists("\(folder)/state.sqlite") { return true }
    // A mirror that has lost its state is known by its only segment.
    let store = try? DiskStore.openForReading(cache: folder, clockStart: clock.now().wall)
    guard let store = store ?? nil, let records = try? store.segments() else { return false }
    return records.map(\.key.name) == [MirrorFolder.segment]
  }

  /// Whether `--cache-dir` names the cache of a mirror that is not there, as on an unmounted disk.
  var namesLostMirror: Bool {
    get throws(Failure) {
      guard shared.mayNameMirror, let folder = shared.cacheDirectory else { return false }
      return try !DiskStore.exists(at: folder)
    }
  }

  func configurationAndLocations(
    isRequired: Bool = false,
    allowsUnsetSecrets: Bool = false
  ) throws(CommandExit) -> (LoadedConfiguration, CacheLocations) {
    let loaded = try configuration(isRequired: isRequired, allowsUnsetSecrets: allowsUnsetSecrets)
    return (loaded, try locations(loaded))
  }

  /// Returns the configuration and places for a command that makes nothing.
  ///
  /// The `--cache-dir` of a mirror that is not there, such as on an unmounted disk, still names a
  /// mirror: no configuration of another cache may answer instead.
  func readConfigurationAndLocations() throws(CommandExit) -> (
    LoadedConfiguration, CacheLocations
  ) {
    let isLostMirror = try reading { () throws(Failure) in try namesLostMirror }
    let loaded = try configuration(
      isRequired: false,
      allowsUnsetSecrets: true,
      searches: !isLostMirror
    )
    var locations = try locations(loaded)
    if isLostMirror, shared.stateDirectory == nil { locations.state = locations.cache }
    return (loaded, locations)
  }

  func loadConfiguration(
    isRequired: Bool,
    needsSources: Bool,
    allowsUnsetSecrets: Bool = false,
    searches: Bool = true,
    declaring own: [Override] = []
  ) -> LoadedConfiguration {
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    var loader = ConfigurationLoader()
    loader.files = shared.configurationFiles
    loader.searches = searches && own.isEmpty && (isRequired || !namesMirror)
    loader.profile = shared.profile
    loader.requiresFile = isRequired
    loader.requiresSources = needsSources
    loader.allowsUnsetSecrets = allowsUnsetSecrets
    loader.overrides = own + overrides
    var loaded = loader.load(in: .process(environment))
    loaded.options = loader.overrides
    loaded.diagnostics += loaded.timeZoneDiagnostics { zones.zone(named: $0) != nil }
    // A check with placeholders for secrets runs on another machine than the run.
    if needsSources || !own.isEmpty, !allowsUnsetSecrets {
      loaded.diagnostics += loaded.trustFileDiagnostics(
        isReadable: FileReading.isReadable,
        isPEM: FileReading.isPEM
      )
    }
    pendingRun.configuration = loaded
    console.secrets = loaded.secrets
    console.hiddenURLs = loaded.hiddenURLs
    hide(loaded.configuration.license)
    console.sourceLine = loaded.sourceLine
    return loaded
  }

  /// Hides the license, which is for one server, from children and other processes.
  private func hide(_ license: Secret?) {
    guard let license, !license.value.isEmpty else { return }
    ProcessSecrecy.hideMemory()
    let holders = environment.variables.filter { $0.value == license.value }.keys
    ProcessSecrecy.withdraw(Set(holders).union(["PREFETCH_LICENSE"]))
  }

  /// Returns variables for child processes: neither license nor secrets.
  func variablesForChildren(_ loaded: LoadedConfiguration) -> [String: String] {
    environment.variables.filter { name, value in
      name != "PREFETCH_LICENSE" && !loaded.secrets.contains { value.contains($0) }
    }
  }

  var zones: TimeZoneFiles {
    TimeZoneFiles(variable: environment.variables["TZ"])
  }

  /// Overrides: environment, then options, then `--set`.
  private var overrides: [Override] {
    var overrides: [Override] = []
    if let license = environment.variables["PREFETCH_LICENSE"], !license.isEmpty {
      overrides.append(Override(path: "license", text: license, source: "PREFETCH_LICENSE"))
    }
    let options: [(name: String, path: String, value: String?)] = [
      ("cache-dir", "cache.dir", shared.cacheDirectory),
      ("state-dir", "state.dir", shared.stateDirectory),
      ("manifests", "manifests", shared.manifestTemplate),
    ]
    for option in options {
      guard let value = option.value else { continue }
      let source =
        switch sources[option.name] {
        case .environment(let variable): variable
        case .commandLine, nil: "--\(option.name)"
        }
      overrides.append(Override(path: option.path, text: value, source: source))
    }
    for setting in shared.settings {
      overrides.append(
        Override(
          path: setting.key,
          text: setting.value,
          source: "--set \(setting.key)",
          refusesSecrets: true
        )
      )
    }
    return overrides
  }

  /// Returns the named places, unchecked; nil without a home folder.
  func namedLocations(_ loaded: LoadedConfiguration?) -> CacheLocations? {
    var locations = CacheLocations.resolve(
      shared: shared,
      configuration: loaded?.configuration,
      environment: environment
    )
    // A mirror's state is beside its cache.
    if let cache = locations?.cache, namesMirror, shared.stateDirectory == nil,
      loaded?.files.isEmpty ?? true
    {
      locations?.state = cache
    }
    return locations
  }

  func locations(_ loaded: LoadedConfiguration?) throws(CommandExit) -> CacheLocations {
    if var locations = namedLocations(loaded) {
      if let loaded { try addLower(of: loaded, to: &locations) }
      try checkFolders(of: locations)
      return locations
    }
    throw failed(
      .io,
      "store.no-place",
      "there is no home folder to keep a cache in",
      hint: "set `--cache-dir` and `--state-dir`"
    )
  }

  private func checkFolders(of locations: CacheLocations) throws(CommandExit) {
    try reading { () throws(Failure) in
      if locations.isShared { return }
      for path in [locations.cache, locations.state] {
        if let objection = try FolderAccess.objection(to: path) { throw objection }
      }
    }
  }

  private func addLower(
    of loaded: LoadedConfiguration,
    to locations: inout CacheLocations
  ) throws(CommandExit) {
    let lower = loaded.configuration.cache.lower
    guard !lower.isEmpty || !loaded.files.isEmpty else { return }
    locations.lower = LowerCaches(lower, for: loaded.identity)
    let problems = locations.lowerDiagnostics(lower)
    guard !problems.isEmpty else { return }
    throw failed(shared.cacheDirectory == nil ? .config : .usage, problems)
  }

  func storeFailed(_ failure: Failure) -> CommandExit {
    if failure.code == .cancelled, let signal = StopSignals.pending {
      return failed(signal == 2 ? .interrupted : .terminated, "stopped", failure.message)
    }
    if failure.code == .locked { return failed(.deferred, "store.locked", failure.message) }
    let status: ExitStatus =
      switch failure.code.category {
      case .io: .io
      case .trust: .trust
      case .connectivity, .denied, .content: .failed
      }
    return failed(status, "store.\(failure.code.rawValue)", failure.message)
  }

  /// Opens the cache for reading; nil if there is none yet.
  func readingStore(_ locations: CacheLocations) throws(CommandExit) -> DiskStore? {
    do {
      let store = try DiskStore.openForReading(
        cache: locations.cache,
        below: locations.lower,
        clockStart: clock.now().wall
      )
      store?.isCancelled = { StopSignals.pending != nil }
      for report in store?.drainDiagnostics() ?? [] { console.reportNow(report) }
      return store
    } catch {
      throw storeFailed(error)
    }
  }

  func readingState(_ locations: CacheLocations) throws(CommandExit) -> StateStore? {
    try reading { () throws(Failure) in
      var reports: [Diagnostic] = []
      do throws(Failure) {
        let state = try StateStore.openForReading(state: locations.state, reports: &reports)
        for report in reports { console.reportNow(report) }
        return state
      } catch {
        guard let warning = privacyWarning(of: locations, error) else { throw error }
        console.reportNow(warning)
        return nil
      }
    }
  }

  /// Returns a warning if only the owner of a shared cache may read the state beside it.
  func privacyWarning(of locations: CacheLocations, _ failure: Failure) -> Diagnostic? {
    guard locations.isShared, failure.code == .permission else { return nil }
    return Diagnostic(
      "state.private",
      "the state `\(locations.state)` is private to the user of the runs: past runs, waits and published trees are left out",
      severity: .warning,
      hint: "ask as the user of the runs, such as with `sudo -u`"
    )
  }

  /// Whether a shared cache may be read, and its state may not.
  func hasPrivateState(_ locations: CacheLocations) -> Bool {
    guard locations.isShared else { return false }
    do throws(Failure) {
      var reports: [Diagnostic] = []
      _ = try StateStore.openForReading(state: locations.state, reports: &reports)
      return false
    } catch {
      return privacyWarning(of: locations, error) != nil
    }
  }

  /// Whether the clock agrees with the servers' times that the cache has recorded.
  func believesClock(_ locations: CacheLocations) -> Bool {
    let store = try? DiskStore.openForReading(
      cache: locations.cache,
      clockStart: clock.now().wall
    )
    guard let store = store ?? nil, let isBelieved = try? store.believesClock() else { return true }
    return isBelieved
  }

  func writingState<Value>(
    _ locations: CacheLocations,
    _ work: (StateStore) throws(Failure) -> Value
  ) throws(CommandExit) -> Value {
    try reading { () throws(Failure) in
      let state = try StateStore.openForWriting(state: locations.state)
      state.believesClock = { believesClock(locations) }
      console.report(state.diagnostics)
      let value = try work(state)
      try state.close()
      return value
    }
  }

  func reading<Value>(_ work: () throws(Failure) -> Value) throws(CommandExit) -> Value {
    do {
      return try work()
    } catch {
      throw storeFailed(error)
    }
  }
}

extension ConfigurationEnvironment {
  static func process(_ environment: ProcessEnvironment) -> Self {
    let limit = 4 << 20
    let variables = environment.variables
    return Self(
      readFile: { path in
        do throws(FileReading.Fault) {
          return .success(try FileReading.read(path, limit: limit))
        } catch {
          return .failure(FileFault(error, limit: limit))
        }
      },
      realPath: { FileReading.realPath($0) },
      isReadableByOthers: { path in
        FileReading.permissionBits(path).map { $0 & 0o044 != 0 } ?? false
      },
      variable: { variables[$0] },
      currentDirectory: environment.currentDirectory,
      homeDirectory: environment.homeDirectory,
      standardInput: {
        do throws(FileReading.Fault) {
          return .success(try FileReading.readStandardInput(limit: limit))
        } catch {
          return .failure(FileFault(error, limit: limit))
        }
      }
    )
  }
}

extension ConfigurationEnvironment.FileFault {
  init(_ fault: FileReading.Fault, limit: Int) {
    switch fault {
    case .missing: self = .missing
    case .folder: self = .notRegular
    case .tooLarge: self = .tooLarge(limit: limit)
    case .forbidden, .unreadable: self = .unreadable(fault.reason)
    }
  }
}
