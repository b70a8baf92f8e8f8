import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

struct DoctorCommand: Command {
  typealias Finding = DoctorFinding

  let context: CommandContext

  func run() throws(CommandExit) -> Int32 {
    var findings = libraries
    // No configuration of another cache may answer for a mirror on an unmounted disk.
    let isLostMirror = (try? context.namesLostMirror) ?? false
    var loaded = context.loadConfiguration(
      isRequired: false,
      needsSources: true,
      searches: !isLostMirror
    )
    if context.namesMirror, loaded.files.isEmpty {
      loaded.identity = MirrorRules.identity(sharingPlacesFrom: nil)
    }
    findings.append(configuration(loaded))
    findings += LibraryLints(configuration: loaded.configuration).diagnostics.map {
      Finding("http", $0.message)
    }
    findings += ProxyLints(
      configuration: loaded.configuration,
      environment: context.environment.variables
    ).diagnostics.map { Finding("proxy", $0.message) }
    if var locations = context.namedLocations(loaded) {
      if isLostMirror, context.shared.stateDirectory == nil { locations.state = locations.cache }
      // A mirror's own check knows more.
      let isCacheLost =
        context.shared.cacheDirectory == nil && !FileReading.exists(locations.cache)
        && (try? context.presence(loaded, locations, nil)) == .lost
      findings +=
        DoctorFolders(loaded: loaded, locations: locations, isCacheLost: isCacheLost).findings
      findings +=
        DoctorLower(
          locations: locations,
          lower: loaded.configuration.cache.lower,
          isNamedByOption: context.shared.cacheDirectory != nil,
          now: context.clock.now().wall
        ).findings
      findings += DoctorMirror(context: context, locations: locations).findings
      findings += DoctorRules(context: context, loaded: loaded, locations: locations).findings
    } else {
      findings.append(
        Finding("cache", "its place is unknown: `HOME` is not set", trouble: .usage)
      )
    }
    findings += DoctorTier(builder: context.builder(loaded), clock: context.clock).findings
    findings += schedules
    findings.append(recipients(loaded))
    let exit = findings.exit
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-doctor/1",
        "exit": .exit(exit, code: exit.code),
        "findings": .array(
          findings.map { finding in
            [
              "name": .string(finding.name), "value": .string(finding.value),
              "ok": .bool(finding.isRight),
            ]
          }
        ),
      ])
    } else {
      for finding in findings {
        let mark = finding.isRight ? "" : "wrong: "
        context.console.print("\(finding.name)\t\(mark)\(SafeText.line(finding.value))")
      }
    }
    return exit.code
  }

  private var libraries: [Finding] {
    let features = LibraryVersion().features.map(\.rawValue).sorted().joined(separator: ", ")
    return [Finding(ToolVersions.name, ToolVersions.version)]
      + ToolVersions.libraries.map { library in
        let more = library.name == "libcurl" ? ": \(features)" : ""
        return Finding(library.name, library.version + more)
      }
  }

  private func configuration(_ loaded: LoadedConfiguration) -> Finding {
    let files = loaded.files.joined(separator: ", ")
    let errors = loaded.diagnostics.count { $0.severity == .error }
    guard errors == 0 else {
      let count = Amounts.count(Int64(errors), "error")
      let name = files.isEmpty ? "" : "\(files): "
      let first = loaded.diagnostics.first { $0.severity == .error }?.message ?? ""
      return Finding(
        "configuration",
        "\(name)\(count), the first: \(first); `prefetch check` names all",
        trouble: loaded.hasUsageErrors ? .usage : .config
      )
    }
    let isOfMirror = context.namesMirror || (try? context.namesLostMirror) ?? false
    guard !loaded.files.isEmpty || !isOfMirror else {
      return Finding("configuration", "none, and a mirror needs none")
    }
    guard !loaded.files.isEmpty else {
      return Finding(
        "configuration",
        "none found, and `run` needs one; `get` and `serve` do not",
        trouble: .config
      )
    }
    let segments = Amounts.count(Int64(loaded.configuration.segments.count), "segment")
    let remark =
      loaded.configuration.isEnabled ? "" : "; `enabled` is false, so a run does nothing"
    return Finding("configuration", "\(files): valid, \(segments)\(remark)")
  }

  private var schedules: [Finding] {
    let home = context.environment.homeDirectory
    let tables =
      ["/etc/crontab"]
      + files(
        in: ["/etc/cron.d", "/var/spool/cron/crontabs"]
          + ["hourly", "daily", "weekly", "monthly"].map { "/etc/cron.\($0)" }
      )
    // The user's systemd may run without `XDG_CONFIG_HOME`.
    let settings = [
      home.map { "\($0)/.config" }, context.environment.variables["XDG_CONFIG_HOME"],
    ]
    let own = Set(settings.compactMap { $0.map { "\($0)/systemd/user" } }).sorted()
    let units = ["/etc/systemd/system", "/usr/lib/systemd/system", "/etc/systemd/user"] + own
    let timers = files(in: units).filter { file in
      guard file.hasSuffix(".timer") else { return false }
      let unit = file.dropLast(".timer".count)
      return PathText.split(file).leaf.hasPrefix("prefetch") || namesUs("\(unit).service")
    }
    let found = tables.filter(namesUs).map { Finding("schedule", $0) }
    let schedules = found + timers.map { schedule($0, ofUser: own) }
    guard !schedules.isEmpty else {
      return [
        Finding("schedule", "nothing found; `prefetch schedule` prints a timer")
      ]
    }
    return schedules
  }

  /// Reports a timer; it starts nothing until it is enabled by a link in a `.wants` folder.
  private func schedule(_ timer: String, ofUser own: [String]) -> Finding {
    let (folder, name) = PathText.split(timer)
    let isOfUser = folder.hasSuffix("/systemd/user")
    let unitFolders = isOfUser ? own + ["/etc/systemd/user"] : ["/etc/systemd/system"]
    let isEnabled = unitFolders.contains { unitFolder in
      FileReading.names(in: unitFolder).contains { wanting in
        wanting.hasSuffix(".wants")
          && FileReading.names(in: "\(unitFolder)/\(wanting)").contains { $0 == name }
      }
    }
    guard !isEnabled else { return Finding("schedule", timer) }
    let user = isOfUser ? "--user " : ""
    return .doubtful(
      "schedule",
      "\(timer) is not enabled; `systemctl \(user)enable --now \(name)` has it begin runs"
    )
  }

  private func files(in folders: [String]) -> [String] {
    folders.flatMap { folder in
      FileReading.names(in: folder).sorted().map { "\(folder)/\($0)" }
    }
  }

  private func namesUs(_ file: String) -> Bool {
    guard let bytes = try? FileReading.readRegular(file, limit: 1 << 20) else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains { line in
      line.first != "#" && line.contains("prefetch")
    }
  }

  private func recipients(_ loaded: LoadedConfiguration) -> Finding {
    let configuration = loaded.configuration
    let url = configuration.registration.url
    let license =
      configuration.license != nil ? url.map { ["the license to \($0.redacted)"] } ?? [] : []
    let setup = AnalyticsSetup(loaded, publisher: context.builder(loaded).publisher)
    let events = setup.collector.map { ["events to \($0.authority)"] } ?? []
    let destinations = license + events
    return Finding(
      "sends",
      destinations.isEmpty
        ? "nothing but the requests for declared items"
        : destinations.joined(separator: ", ")
    )
  }
}
