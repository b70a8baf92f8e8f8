import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// Checks of `doctor` for other obstacles: runs, clock, network, license and programs.
struct DoctorRules {
  let context: CommandContext
  let loaded: LoadedConfiguration
  let locations: CacheLocations

  var findings: [DoctorFinding] {
    var reports: [Diagnostic] = []
    let state: StateStore?
    var findings: [DoctorFinding] = []
    do throws(Failure) {
      state = try StateStore.openForReading(state: locations.state, reports: &reports)
    } catch {
      state = nil
      findings.append(DoctorFinding("state", error.message, trouble: .io))
    }
    findings += reports.map { .doubtful("state", $0.message) }
    if let objection = DiskStore.objectionToNewer(cache: locations.cache) {
      findings.append(DoctorFinding("cache", objection.message, trouble: .io))
    }
    findings += [lock].compactMap(\.self)
    findings.append(clock(state))
    findings.append(network)
    findings += rules(state)
    findings += license
    findings += expired
    return findings + hooks
  }

  private var lock: DoctorFinding? {
    guard (try? RunLock.isHeld(cache: locations.cache, identity: loaded.identity)) == true else {
      return nil
    }
    let holder = context.lockHolder(locations, loaded.identity)
    return DoctorFinding("lock", holder, trouble: .deferred)
  }

  private func clock(_ state: StateStore?) -> DoctorFinding {
    let now = context.clock.now().wall
    let text = Timestamp.format(now)
    if let last = (try? state?.runs(of: nil))?.map(\.finished).max(), now < last {
      return .doubtful(
        "clock",
        "\(text), which is before the end of the last run, \(Timestamp.format(last))"
      )
    }
    let day = Duration.seconds(86_400)
    if let made = FileReading.modified("/proc/self/exe"), now + day < made {
      return .doubtful(
        "clock",
        "\(text), which is before this program was installed, \(Timestamp.format(made))"
      )
    }
    return DoctorFinding("clock", text)
  }

  private var network: DoctorFinding {
    let machine = MachineCircumstances(context: context, loaded: loaded, state: { nil })
    // A proxy on this machine may reach further than its own routes.
    if needsNetwork, !machine.hasNetwork(), !context.builder(loaded).policy.connections.mayBeProxied
    {
      return DoctorFinding("network", Failure.noRoute.message, trouble: .unavailable)
    }
    guard let conditions = machine.glance else {
      return DoctorFinding("network", "`network.probe` determines it in each run")
    }
    let type = conditions.type?.rawValue ?? "unknown"
    return DoctorFinding("network", "\(type): \(conditions.typeReason)")
  }

  private var needsNetwork: Bool {
    loaded.configuration.segments.contains { segment in
      var urls = segment.urls.compactMap(\.url)
      if let url = segment.manifestURL { urls.append(url) }
      return urls.contains { !$0.isOnThisMachine }
    }
  }

  private func rules(_ state: StateStore?) -> [DoctorFinding] {
    let view = try? NetworkView(context: context, loaded: loaded, state: state, looksAtAll: false)
    let held = view?.segments.filter { $0.verdict.deferral != nil } ?? []
    return held.map { segment in
      let isRequired =
        loaded.configuration.segments.first { $0.name == segment.name }?.declaration.isRequired
        ?? true
      return DoctorFinding(
        "rules",
        "\(segment.name): \(segment.verdictText)",
        trouble: isRequired ? .deferred : nil
      )
    }
  }

  private var license: [DoctorFinding] {
    guard loaded.configuration.registration.url != nil else { return [] }
    if let objection = LicenseSetup.diagnostics(loaded).first(where: { $0.severity == .error }) {
      return [DoctorFinding("license", objection.message, trouble: .config)]
    }
    let licenseStatus = context.license(loaded, context.builder(loaded), locations)
    if let failure = licenseStatus.failure {
      let status: ExitStatus = failure.code.category == .trust ? .trust : .denied
      return [DoctorFinding("license", failure.message, trouble: status)]
    }
    switch licenseStatus.word {
    case .registered:
      let until = licenseStatus.expires.map { " until \(Timestamp.format($0))" } ?? ""
      guard let failure = licenseStatus.renewalFailure else {
        return [DoctorFinding("license", "registered\(until)")]
      }
      return [.doubtful("license", "registered\(until), but not renewed: \(failure.message)")]
    case .notRegistered, .refused:
      guard licenseStatus.deferral != nil, let reason = licenseStatus.diagnostics.first?.message
      else {
        return [DoctorFinding("license", "not registered yet; the next run registers it")]
      }
      return [.doubtful("license", reason)]
    }
  }

  private var expired: [DoctorFinding] {
    loaded.expiryDiagnostics(at: context.clock.now().wall, expired: .error).map {
      .doubtful("expiry", $0.message)
    }
  }

  private var hooks: [DoctorFinding] {
    loaded.configuration.hooks.sorted { $0.key < $1.key }.compactMap { event, hook in
      guard let name = hook.command.first else { return nil }
      let path = ProgramSearch.path(of: name, in: context.environment.variables["PATH"])
      if let path, FileReading.isProgram(path) { return nil }
      let value = "the program of `\(event)`, `\(name)`, cannot be found or run"
      return hook.isRequired
        ? DoctorFinding("hook", value, trouble: .failed) : .doubtful("hook", value)
    }
  }
}
