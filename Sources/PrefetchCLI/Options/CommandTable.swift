enum CommandTable {
  static let all: [AnyCommand] = [
    AnyCommand(RunOptions.runCommand),
    AnyCommand(RunOptions.planCommand),
    AnyCommand(MirrorOptions.command),
    AnyCommand(GetOptions.command),
    AnyCommand(PathOptions.command),
    AnyCommand(ListOptions.command),
    AnyCommand(StatusOptions.command),
    AnyCommand(ExplainOptions.command),
    AnyCommand(VerifyOptions.command),
    AnyCommand(CollectOptions.command),
    AnyCommand(ServeOptions.command),
    AnyCommand(PublishOptions.command),
    AnyCommand(InitOptions.command),
    AnyCommand(CheckOptions.command),
    AnyCommand(ConfigOptions.command),
    AnyCommand(ScheduleOptions.command),
    AnyCommand(DoctorOptions.command),
    AnyCommand(ControlOptions.pauseCommand),
    AnyCommand(ControlOptions.resumeCommand),
    AnyCommand(ControlOptions.lockCommand),
    AnyCommand(ControlOptions.unlockCommand),
    AnyCommand(WithLockOptions.command),
    AnyCommand(ControlOptions.removeCommand),
    AnyCommand(ImportOptions.command),
    AnyCommand(LogOptions.command),
    AnyCommand(EventOptions.startCommand),
    AnyCommand(EventOptions.stopCommand),
    AnyCommand(EventOptions.logCommand),
    AnyCommand(EventRunOptions.command),
    AnyCommand(ConsumeOptions.command),
    AnyCommand(EventListOptions.command),
    AnyCommand(EventFlushOptions.command),
    AnyCommand(ManifestBuildOptions.command),
    AnyCommand(ManifestCheckOptions.command),
    AnyCommand(ManifestSignOptions.command),
    AnyCommand(SubscribeOptions.command),
    AnyCommand(UnsubscribeOptions.command),
    AnyCommand(RegisterOptions.command),
    AnyCommand(NotifyOptions.command),
    AnyCommand(NetworkOptions.command),
    AnyCommand(PinsOptions.command),
    AnyCommand(StatsOptions.command),
    AnyCommand(ExportOptions.command),
    AnyCommand(EnvironmentOptions.command),
    AnyCommand(CompletionOptions.command),
    AnyCommand(HelpOptions.command),
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

  static let families = words.filter { !family($0).isEmpty }
}
