import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem
import PrefetchTransfer

/// `doctor`: what a run would find on this machine.
struct DoctorCommand {
  private struct Finding {
    var name: String
    var value: String
    /// What a run would end with for it; nil where nothing is wrong.
    var trouble: ExitStatus?
  }

  let context: CommandContext

  func run() throws(CommandExit) -> Int32 {
    var findings = libraries
    let loaded = context.loadConfiguration(isRequired: false, needsSources: false)
    findings.append(configuration(loaded))
    if let places = Places.resolve(
      shared: context.shared,
      configuration: loaded.configuration,
      environment: context.environment
    ) {
      findings.append(folder("cache", places.cache))
      if FileReading.exists(places.cache), !places.isUsedAlone,
        let objection = (try? NetworkFileSystem.objection(to: places.cache)) ?? nil
      {
        findings.append(Finding(name: "cache", value: objection.message, trouble: .io))
      }
      findings.append(folder("state", places.state))
      findings.append(try clock(places, loaded))
    } else {
      findings.append(
        Finding(
          name: "cache",
          value: "nothing says where it is: `HOME` is not set",
          trouble: .usage
        )
      )
    }
    if let conditions = MachineCircumstances(context: context, loaded: loaded, state: { nil })
      .glance
    {
      let type = conditions.type?.rawValue ?? "unknown"
      findings.append(Finding(name: "network", value: "\(type): \(conditions.typeReason)"))
    } else {
      findings.append(
        Finding(name: "network", value: "`network.probe` says in each run what it is")
      )
    }
    findings += schedules
    findings.append(recipients(loaded))
    let exit = findings.compactMap(\.trouble).first ?? .ok
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-doctor/1",
        "exit": .exit(exit, code: exit.code),
        "findings": .array(
          findings.map { finding in
            [
              "name": .string(finding.name), "value": .string(finding.value),
              "ok": .bool(finding.trouble == nil),
            ]
          }
        ),
      ])
    } else {
      for finding in findings {
        let mark = finding.trouble == nil ? "" : "wrong: "
        context.console.print("\(finding.name)\t\(mark)\(SafeText.line(finding.value))")
      }
    }
    return exit.code
  }

  private var libraries: [Finding] {
    let linked = ToolVersions.linked
    let features = LibraryVersion().features.map(\.rawValue).sorted().joined(separator: ", ")
    return [
      Finding(name: ToolVersions.name, value: ToolVersions.version),
      Finding(name: "libcurl", value: "\(linked.libcurl): \(features)"),
      Finding(name: "sqlite", value: linked.sqlite),
      Finding(name: "openssl", value: linked.openssl),
    ]
  }

  private func configuration(_ loaded: LoadedConfiguration) -> Finding {
    let files = loaded.files.joined(separator: ", ")
    let errors = loaded.diagnostics.count { $0.severity == .error }
    guard errors == 0 else {
      let count = Amounts.count(Int64(errors), "error")
      let name = files.isEmpty ? "" : "\(files): "
      return Finding(
        name: "configuration",
        value: "\(name)\(count); `prefetch check` names them",
        trouble: loaded.hasUsageErrors ? .usage : .config
      )
    }
    guard !loaded.files.isEmpty else {
      return Finding(name: "configuration", value: "none found; `run` needs one")
    }
    let segments = Amounts.count(Int64(loaded.configuration.segments.count), "segment")
    return Finding(name: "configuration", value: "\(files): valid, \(segments)")
  }

  /// What is not there is made by the first run, where that may.
  private func folder(_ name: String, _ path: String) -> Finding {
    var standing = path
    while standing != "/", !FileReading.exists(standing) {
      let parent = PathText.split(standing).folder
      standing = parent.isEmpty ? "/" : String(parent)
    }
    let isThere = standing == path
    guard FileReading.isWritableFolder(standing) else {
      return Finding(name: name, value: "\(path): `\(standing)` cannot be written", trouble: .io)
    }
    return Finding(name: name, value: isThere ? path : "\(path), which the first run makes")
  }

  private func clock(
    _ places: Places,
    _ loaded: LoadedConfiguration
  ) throws(CommandExit) -> Finding {
    let now = context.clock.now().wall
    let state = try? context.readingState(places)
    let last = (try? state?.runs(of: nil))?.map(\.finished).max()
    let text = Timestamp.format(now)
    if let last, now < last {
      return Finding(
        name: "clock",
        value: "\(text), which is before the end of the last run, \(Timestamp.format(last))",
        trouble: nil
      )
    }
    return Finding(name: "clock", value: text)
  }

  /// Files in which a scheduler may be told of us.
  private var schedules: [Finding] {
    let home = context.environment.homeDirectory
    let folders =
      ["/etc/cron.d", "/var/spool/cron/crontabs", "/etc/systemd/system"]
      + (home.map { ["\($0)/.config/systemd/user"] } ?? [])
    let files =
      ["/etc/crontab"]
      + folders.flatMap { folder in
        FileReading.names(in: folder).sorted().filter { !$0.hasSuffix(".service") }
          .map { "\(folder)/\($0)" }
      }
    let found = files.filter { file in
      if file.hasSuffix(".timer") { return PathText.split(file).leaf.hasPrefix("prefetch") }
      guard let bytes = try? FileReading.read(file, limit: 1 << 20) else { return false }
      return String(decoding: bytes, as: UTF8.self).contains("prefetch")
    }
    guard !found.isEmpty else {
      return [
        Finding(
          name: "schedule",
          value: "nothing found; `prefetch schedule` prints what begins runs"
        )
      ]
    }
    return found.map { Finding(name: "schedule", value: $0) }
  }

  private func recipients(_ loaded: LoadedConfiguration) -> Finding {
    let configuration = loaded.configuration
    let url = configuration.registration.url
    let license =
      configuration.license != nil ? url.map { ["the license to \($0.redacted)"] } ?? [] : []
    let events = AnalyticsSetup(loaded).collector.map { ["events to \($0.authority)"] } ?? []
    let told = license + events
    return Finding(
      name: "sends",
      value: told.isEmpty
        ? "nothing to anybody, but requests for what is declared"
        : told.joined(separator: ", ")
    )
  }
}
