import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem

struct ScheduleCommand: Command {
  let context: CommandContext
  let options: ScheduleOptions

  func run() throws(CommandExit) -> Int32 {
    guard !context.shared.configurationFiles.contains("-") else {
      throw context.failed(
        .usage,
        "usage.conflict",
        "a schedule needs a configuration that is a file"
      )
    }
    // The secrets of the service are not set here.
    let loaded = try context.configuration(isRequired: true, allowsUnsetSecrets: true)
    let unit = try unit(loaded)
    printNeeds(of: unit, loaded)
    switch options.scheduler {
    case .cron:
      var hash = StableHash()
      hash.combine(loaded.identity)
      context.console.print(exactly: unit.crontab(minute: Int(hash.value % 60)))
    case .systemd:
      let files =
        options.isForServer
        ? [("\(unit.name)-serve.service", unit.server)]
        : [("\(unit.name).service", unit.service), ("\(unit.name).timer", unit.timer)]
      guard let folder = options.folder else {
        for (name, text) in files {
          context.console.print(exactly: "# /etc/systemd/system/\(name)")
          context.console.print(exactly: text)
        }
        return ExitStatus.ok.code
      }
      for (name, text) in files {
        let path = "\(folder)/\(name)"
        do {
          try AtomicFile.write(Array(text.utf8), to: path)
        } catch {
          let hint = FileReading.isFolder(folder) ? nil : "make the folder: `mkdir -p \(folder)`"
          let failure = Diagnostic("schedule.write", "`\(path)`: \(error.message)", hint: hint)
          throw context.failed(.io, [failure])
        }
        context.console.print(exactly: path)
      }
      let started = options.isForServer ? "\(unit.name)-serve.service" : "\(unit.name).timer"
      context.console.note("next: systemctl daemon-reload && systemctl enable --now \(started)")
    }
    return ExitStatus.ok.code
  }

  private func printNeeds(of unit: ServiceUnit, _ loaded: LoadedConfiguration) {
    let isService = options.scheduler == .systemd
    if let owner = options.user {
      let commands = ServiceUser(owner).commands(making: unit.missing) { unit.own.contains($0) }
      for command in commands {
        context.console.note("as root: \(command)")
      }
      let others = unit.writable.filter { !unit.missing.contains($0) }
      if !others.isEmpty {
        let folders = others.map(ServiceUnit.shellQuoted).joined(separator: " ")
        context.console.note(
          "as root, unless `\(owner)` can write there: chown -R \(owner): \(folders)"
        )
      }
    } else if !unit.writable.isEmpty, isService {
      if !unit.missing.isEmpty {
        let folders = unit.missing.map(ServiceUnit.shellQuoted).joined(separator: " ")
        context.console.note(
          "as root: install -d \(folders); without them the service does not start"
        )
      }
      context.console.note(
        "the service gets a new user for each start, which must be able to write "
          + "\(Wording.list(unit.writable)); `--user NAME` gives it a permanent one"
      )
    }
    if unit.looksIntoTemporary, options.user == nil, isService {
      context.console.report(
        Diagnostic(
          "schedule.private-tmp",
          "paths below `/tmp` are named, and a service without a permanent user sees a `/tmp` of its own",
          severity: .warning,
          hint: "move them to another folder, or give the service a user with `--user NAME`"
        )
      )
    }
    if isService || options.user != nil { reportObstacles(to: loaded) }
    if options.user == nil, isService, unit.makesCache, unit.sharesCache {
      context.console.report(
        Diagnostic(
          "schedule.private-cache",
          "the cache of a service without a permanent user is below `/var/cache/private`, which other users cannot enter",
          severity: .warning,
          hint: "give the service a user with `--user NAME`, or name a folder with `cache.dir`"
        )
      )
    }
    let secrets = names("file", in: loaded.files)
    if !secrets.isEmpty, isService || options.user != nil {
      context.console.note(
        "the user of the runs must be able to read \(Wording.list(secrets))"
          + (isService ? ", as `${credential:NAME}` in place of `${file:PATH}` need not be" : "")
      )
    }
    guard loaded.configuration.network.readsNetrc else { return }
    if let owner = options.user {
      context.console.note("`network.netrc` reads `~/.netrc` of `\(owner)`")
    } else if isService {
      context.console.report(
        Diagnostic(
          "schedule.no-netrc",
          "the user of the service has no home, so `network.netrc` finds no `~/.netrc`",
          severity: .warning,
          hint:
            "give it a user who has one with `--user NAME`, or the header by `${credential:NAME}`"
        )
      )
    }
  }

  /// Warns of files that the user of the runs cannot read, as far as their modes tell.
  private func reportObstacles(to loaded: LoadedConfiguration) {
    let user = ServiceUser(options.user ?? "")
    let lists = loaded.configuration.segments.compactMap { segment -> String? in
      if case .local(let path)? = segment.manifest { path } else { nil }
    }
    for file in (loaded.files + lists).map(absolute) {
      guard let obstacle = user.obstacle(to: file) else { continue }
      let owner = options.user.map { "`\($0)`" } ?? "the user of the service"
      let cause = obstacle == file ? "" : ": `\(obstacle)` is closed to it"
      context.console.report(
        Diagnostic(
          "schedule.unreadable",
          "\(owner) cannot read `\(file)`\(cause)",
          severity: .warning,
          hint:
            "move the file, for example below `/etc`, or let the user read it: `chmod`, `setfacl`"
        )
      )
    }
  }

  private func unit(_ loaded: LoadedConfiguration) throws(CommandExit) -> ServiceUnit {
    let configuration = loaded.configuration
    let given = context.shared.configurationFiles
    let files = (given.isEmpty ? Array(loaded.files.prefix(1)) : given).map(absolute)
    var command = [FileReading.realPath("/proc/self/exe") ?? "/usr/bin/prefetch"]
    command += options.isForServer ? ["serve"] : ["run", "--quiet"]
    if options.pulls { command.append("--pull") }
    for file in files { command += ["--config", file] }
    if let profile = context.shared.profile { command += ["--profile", profile] }
    for setting in context.shared.settings {
      command += ["--set", "\(setting.key)=\(setting.value)"]
    }
    if let network = context.shared.network { command += ["--network", network.text] }
    if let template = context.shared.manifestTemplate { command += ["--manifests", template] }
    let (cache, state) = (context.shared.cacheDirectory, context.shared.stateDirectory)
    let isCron = options.scheduler == .cron
    let locations = try context.locations(loaded)
    let own = [cache ?? configuration.cache.folder, state ?? configuration.cache.stateFolder]
    let name = Self.name(configuration.name)
    let isOfOther = isCron && options.user != nil
    // In a crontab, variables do not place these folders; another user gets those of systemd.
    let made = zip(own, ["/var/cache/\(name)", "/var/lib/\(name)"]).map { own, standard in
      isOfOther && own == nil ? standard : nil
    }
    if let cache = cache.map(absolute) ?? made[0] ?? (isCron ? locations.cache : nil) {
      command += ["--cache-dir", cache]
    }
    if let state = state.map(absolute) ?? made[1] ?? (isCron ? locations.state : nil) {
      command += ["--state-dir", state]
    }
    if let log = context.shared.logFile {
      command += ["--log-file", absolute(log)]
    }
    if context.shared.logFormat == .json { command += ["--log-format", "json"] }
    let paths = WrittenPaths(
      configuration,
      further: (own + made).compactMap(\.self).map(absolute),
      log: context.shared.logFile,
      absolute: absolute
    )
    let title = configuration.name ?? files.first ?? loaded.identity
    var unit = ServiceUnit(
      name: name,
      command: command,
      title: title,
      writable: paths.all,
      credentials: names("credential", in: loaded.files)
    )
    unit.makesCache = own[0] == nil
    unit.makesState = own[1] == nil
    unit.sharesCache = configuration.cache.isShared
    let named = JSONValue.array(
      [loaded.canonical] + (files + paths.all + command).map { .string($0) }
    )
    unit.looksIntoHomes =
      Self.names(["/home/", "/root/"], in: named)
      || options.user != nil && configuration.network.readsNetrc
    unit.looksIntoTemporary = Self.names(["/tmp/", "/var/tmp/"], in: named)
    unit.times = options.times
    unit.owner = options.user
    unit.missing = paths.missing
    unit.own = Set((own + made).compactMap(\.self).map(absolute))
    return unit
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(context.environment.currentDirectory)/\(path)"
  }

  private static func names(_ folders: [String], in value: JSONValue) -> Bool {
    switch value {
    case .string(let text): folders.contains { text.hasPrefix($0) }
    case .array(let elements): elements.contains { names(folders, in: $0) }
    case .object(let members): members.contains { names(folders, in: $0.1) }
    default: false
    }
  }

  private static func name(_ name: String?) -> String {
    guard let name else { return "prefetch" }
    let safeBytes = name.lowercased().utf8.map { byte in
      ASCII.isDigit(byte) || (0x61...0x7A).contains(byte) ? byte : UInt8(ascii: "-")
    }
    return "prefetch-\(String(decoding: safeBytes.prefix(60), as: UTF8.self))"
  }

  private func names(_ kind: String, in files: [String]) -> [String] {
    var names: Set<String> = []
    for file in files {
      guard let bytes = try? FileReading.read(file, limit: 16 << 20) else { continue }
      for fragment in String(decoding: bytes, as: UTF8.self).split(separator: "${\(kind):")
        .dropFirst()
      {
        let name = fragment.prefix { $0 != "}" && !$0.isNewline }
        if !name.isEmpty, kind == "file" || !name.contains("/") { names.insert(String(name)) }
      }
    }
    return names.sorted()
  }
}
