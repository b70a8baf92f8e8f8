import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct ConfigCommand: Command {
  let context: CommandContext
  let options: ConfigOptions

  func run() throws(CommandExit) -> Int32 {
    if options.printsSchema {
      context.console.print(JSONSchema.configuration)
      return ExitStatus.ok.code
    }
    let loaded = try context.configuration(isRequired: true)
    let granted = try granted(loaded)
    if context.shared.isJSON {
      var members: [(String, JSONValue)] = [
        ("schema", "prefetch-config/1"), ("config", loaded.canonical),
        ("publisher", granted.map { .object(publisher($0, loaded)) } ?? .null),
      ]
      if options.showsOrigins { members.append(("origins", origins(loaded))) }
      context.console.print(.object(members))
      return ExitStatus.ok.code
    }
    switch options.format ?? .yaml {
    case .json: context.console.print(loaded.canonical)
    case .yaml: context.console.print(YAMLText.lines(loaded.canonical).joined(separator: "\n"))
    }
    if options.showsOrigins {
      for (path, origin) in loaded.origins.sorted(by: { $0.key < $1.key }) {
        context.console.print("# \(path): \(SafeText.line(Self.text(origin)))")
      }
    }
    if let granted {
      let document: JSONValue = .object([("publisher", .object(publisher(granted, loaded)))])
      for line in YAMLText.lines(document) { context.console.print("# \(SafeText.line(line))") }
    }
    return ExitStatus.ok.code
  }

  private func granted(
    _ loaded: LoadedConfiguration
  ) throws(CommandExit) -> RegistrationRecord.Grant? {
    guard let setup = LicenseSetup(loaded) else { return nil }
    let locations = try context.locations(loaded)
    let state = try context.readingState(locations)
    let grant = try context.reading { () throws(Failure) in
      try state?.registration(setup.stateKey)?.grant
    }
    return grant.flatMap { $0.isValid(at: context.clock.now().wall) ? $0 : nil }
  }

  /// Returns the publisher's part of a grant; features that it does not mention are on.
  private func publisher(
    _ grant: RegistrationRecord.Grant,
    _ loaded: LoadedConfiguration
  ) -> [(String, JSONValue)] {
    let policy = PublisherPolicy(of: grant)
    let features = PublisherPolicy.Feature.allCases.map { feature -> (String, JSONValue) in
      (feature.rawValue, .bool(policy?.switchedOff.contains(feature) != true))
    }
    let said = grant.policy.flatMap { text in
      DocumentReader.read(Array(text.utf8), source: "policy", syntax: .json).node
    }
    return [
      ("since", .time(grant.since)), ("expires", .time(grant.expires)),
      ("features", .object(features)),
      (
        "policy", said.map { JSONValue($0).masked(needles: SecretNeedles(loaded.secrets)) } ?? .null
      ),
    ]
  }

  private func origins(_ loaded: LoadedConfiguration) -> JSONValue {
    .object(
      loaded.origins.sorted { $0.key < $1.key }.map { ($0.key, .string(Self.text($0.value))) }
    )
  }

  private static func text(_ origin: ValueOrigin) -> String {
    origin.location?.description ?? origin.source
  }
}
