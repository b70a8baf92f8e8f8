enum CommandTable {
  /// Commands in the order of the pages; each table of options is made when it is first read.
  static let all: [AnyCommand] = [
    AnyCommand("run", RunOptions.runCommand),
    AnyCommand("plan", RunOptions.planCommand),
    AnyCommand("mirror", MirrorOptions.command),
    AnyCommand("get", GetOptions.command),
    AnyCommand("path", PathOptions.command),
    AnyCommand("list", ListOptions.command),
    AnyCommand("status", StatusOptions.command),
    AnyCommand("explain", ExplainOptions.command),
    AnyCommand("verify", VerifyOptions.command),
    AnyCommand("gc", CollectOptions.command),
    AnyCommand("serve", ServeOptions.command),
    AnyCommand("publish", PublishOptions.command),
    AnyCommand("freeze", FreezeOptions.command),
    AnyCommand("init", InitOptions.command),
    AnyCommand("check", CheckOptions.command),
    AnyCommand("config", ConfigOptions.command),
    AnyCommand("schedule", ScheduleOptions.command),
    AnyCommand("doctor", DoctorOptions.command),
    AnyCommand("pause", ControlOptions.pauseCommand),
    AnyCommand("resume", ControlOptions.resumeCommand),
    AnyCommand("lock", ControlOptions.lockCommand),
    AnyCommand("unlock", ControlOptions.unlockCommand),
    AnyCommand("with-lock", WithLockOptions.command),
    AnyCommand("rm", ControlOptions.removeCommand),
    AnyCommand("import", ImportOptions.command),
    AnyCommand("log", LogOptions.command),
    AnyCommand("event start", EventOptions.startCommand),
    AnyCommand("event stop", EventOptions.stopCommand),
    AnyCommand("event log", EventOptions.logCommand),
    AnyCommand("event run", EventRunOptions.command),
    AnyCommand("event consume", ConsumeOptions.command),
    AnyCommand("event list", EventListOptions.command),
    AnyCommand("event flush", EventFlushOptions.command),
    AnyCommand("manifest build", ManifestBuildOptions.command),
    AnyCommand("manifest check", ManifestCheckOptions.command),
    AnyCommand("manifest sign", ManifestSignOptions.command),
    AnyCommand("subscribe", SubscribeOptions.command),
    AnyCommand("unsubscribe", UnsubscribeOptions.command),
    AnyCommand("register", RegisterOptions.command),
    AnyCommand("notify", NotifyOptions.command),
    AnyCommand("network", NetworkOptions.command),
    AnyCommand("pins", PinsOptions.command),
    AnyCommand("stats", StatsOptions.command),
    AnyCommand("export", ExportOptions.command),
    AnyCommand("env", EnvironmentOptions.command),
    AnyCommand("completion", CompletionOptions.command),
    AnyCommand("help", HelpOptions.command),
  ]

  static let sharedOptions = SharedOptions.specs.map { spec in
    var description = spec.description
    description.section = .shared
    return description
  }

  /// Options by name, each once: a name takes a value in every command or in none.
  static let allOptions: [OptionDescription] = {
    var seen: Set<String> = []
    return (sharedOptions + all.flatMap(\.ownOptions)).filter { seen.insert($0.name).inserted }
  }()

  static func command(named name: String) -> AnyCommand? {
    all.first { $0.name == name }
  }

  static let words: [String] = {
    var seen: Set<String> = []
    return all.map(\.word).filter { seen.insert($0).inserted }
  }()

  static let otherWords: [String: String] = [
    "add": "import", "apply": "run", "cat": "get", "clean": "gc", "cleanup": "gc", "clear": "gc",
    "clone": "mirror", "copy": "get", "cp": "get", "create": "init", "delete": "rm", "diff": "plan",
    "download": "get",
    "du": "status", "evict": "gc", "fetch": "get", "find": "list",
    "history": "log", "info": "explain", "inspect": "explain", "items": "list", "ls": "list",
    "man": "help", "new": "init", "open": "path", "prune": "gc", "pull": "run", "purge": "gc",
    "refresh": "run",
    "remove": "rm", "search": "list", "server": "serve", "show": "explain", "start": "run",
    "sync": "run", "unlink": "rm", "update": "run", "upgrade": "run", "validate": "check",
    "version": "--version", "wget": "mirror", "which": "path", "why": "explain",
  ]

  static func family(_ word: String) -> [AnyCommand] {
    all.filter { $0.word == word && $0.action != nil }
  }

  static func isFamily(_ word: String) -> Bool {
    all.contains { $0.word == word && $0.action != nil }
  }

  static let families = words.filter(isFamily)
}
