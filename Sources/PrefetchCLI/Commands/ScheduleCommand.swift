import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// `schedule`: what makes systemd or cron begin the runs of a configuration.
struct ScheduleCommand {
  let context: CommandContext
  let options: ScheduleOptions

  func run() throws(CommandExit) -> Int32 {
    guard !context.shared.configurationFiles.contains("-") else {
      return context.console.fail(
        .usage,
        [Diagnostic("usage.conflict", "a schedule needs a configuration that is a file")]
      )
    }
    // What a service is given is not here.
    let loaded = try context.configuration(isRequired: true, allowsUnsetSecrets: true)
    let unit = try unit(loaded)
    if !unit.writable.isEmpty, options.scheduler == .systemd {
      context.console.note(
        "the service has a user of its own, who must be able to write "
          + Wording.list(unit.writable)
      )
    }
    switch options.scheduler {
    case .cron:
      var hash = StableHash()
      hash.combine(loaded.identity)
      context.console.print(unit.crontab(minute: Int(hash.value % 60)))
    case .systemd:
      let files = [("service", unit.service), ("timer", unit.timer)]
      guard let folder = options.folder else {
        for (ending, text) in files {
          context.console.print("# /etc/systemd/system/\(unit.name).\(ending)")
          context.console.print(text)
        }
        return ExitStatus.ok.code
      }
      for (ending, text) in files {
        let path = "\(folder)/\(unit.name).\(ending)"
        do {
          try AtomicFile.write(Array(text.utf8), to: path)
        } catch {
          return context.console.fail(
            .io,
            [Diagnostic("schedule.write", "`\(path)`: \(error.message)")]
          )
        }
        context.console.print(path)
      }
      context.console.note(
        "next: systemctl daemon-reload && systemctl enable --now \(unit.name).timer"
      )
    }
    return ExitStatus.ok.code
  }

  private func unit(_ loaded: LoadedConfiguration) throws(CommandExit) -> ServiceUnit {
    let configuration = loaded.configuration
    let given = context.shared.configurationFiles
    let files = (given.isEmpty ? Array(loaded.files.prefix(1)) : given).map(absolute)
    var command = [FileReading.realPath("/proc/self/exe") ?? "/usr/bin/prefetch", "run", "--quiet"]
    for file in files { command += ["--config", file] }
    let (cache, state) = (context.shared.cacheDirectory, context.shared.stateDirectory)
    let isCron = options.scheduler == .cron
    let places = try context.places(loaded)
    // Nothing of the environment that says where these are is there in a crontab.
    if let cache = cache.map(absolute) ?? (isCron ? places.cache : nil) {
      command += ["--cache-dir", cache]
    }
    if let state = state.map(absolute) ?? (isCron ? places.state : nil) {
      command += ["--state-dir", state]
    }
    let published = configuration.segments.compactMap(\.publish).compactMap { publication in
      // The generations of an atomic tree stand beside the name that it has.
      publication.folder.map { publication.isAtomic ? folder(of: $0) : $0 }
    }
    let reports = configuration.report.files.values.filter { $0 != "-" }
      .map { folder(of: $0.hasPrefix("+") ? String($0.dropFirst()) : $0) }
    let log = context.shared.logFile.map { [folder(of: absolute($0))] } ?? []
    let own = [cache ?? configuration.cache.folder, state ?? configuration.state.folder]
    let written = (published + reports + log + own.compactMap(\.self)).map {
      standing(absolute($0))
    }
    let title = configuration.name ?? files.first ?? loaded.identity
    var unit = ServiceUnit(
      name: Self.name(configuration.name),
      command: command,
      title: title,
      writable: Set(written).sorted(),
      credentials: credentials(loaded.files)
    )
    unit.makesCache = own[0] == nil
    unit.makesState = own[1] == nil
    let homes = ["/home/", "/root/"]
    unit.looksIntoHomes = (files + written + command.prefix(1)).contains { path in
      homes.contains { path.hasPrefix($0) }
    }
    unit.times = options.times
    return unit
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(context.environment.currentDirectory)/\(path)"
  }

  private func folder(of path: String) -> String {
    let folder = PathText.split(path).folder
    return folder.isEmpty
      ? (path.hasPrefix("/") ? "/" : context.environment.currentDirectory) : String(folder)
  }

  /// A unit with a folder that is not there does not start: then the one that it will be made in.
  private func standing(_ path: String) -> String {
    var path = path
    while path != "/", !FileReading.exists(path) { path = folder(of: path) }
    return path
  }

  private static func name(_ name: String?) -> String {
    guard let name else { return "prefetch" }
    let plain = name.lowercased().utf8.map { byte in
      ASCII.isDigit(byte) || (0x61...0x7A).contains(byte) ? byte : UInt8(ascii: "-")
    }
    return "prefetch-\(String(decoding: plain.prefix(60), as: UTF8.self))"
  }

  /// Those that the files ask for by name.
  private func credentials(_ files: [String]) -> [String] {
    var names: Set<String> = []
    for file in files {
      guard let bytes = try? FileReading.read(file, limit: 16 << 20) else { continue }
      for piece in String(decoding: bytes, as: UTF8.self).split(separator: "${credential:")
        .dropFirst()
      {
        let name = piece.prefix { $0 != "}" && !$0.isNewline }
        if !name.isEmpty, !name.contains("/") { names.insert(String(name)) }
      }
    }
    return names.sorted()
  }
}
