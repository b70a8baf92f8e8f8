import Glibc
import PrefetchConfig
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Changes a configuration with every key in one place at a time.
///
/// The program and the schema must agree about the validity of each change.
@Suite("The configuration and its schema")
struct SchemaProbeTests {
  /// Places where the schema cannot express a rule of the program, with the reason.
  struct Exception: Sendable {
    var paths: [String]
    /// Changes as probes write them; nil for all.
    var changes: Set<String>?
    var reason: String
  }

  private static let unset: Set<String> = [
    "no key", "null", #""${env:NOT_SET}""#, #""${file:/missing}""#,
  ]

  static let exceptions: [Exception] = [
    Exception(
      paths: [
        "network.quality.good", "network.quality.excellent", "segments[].network.quality.good",
        "segments[].network.quality.excellent", "segments[].urls[].network.quality.good",
        "segments[].urls[].network.quality.excellent",
      ],
      reason: "a schema compares no two keys, and `good` must not be above `excellent`"
    ),
    Exception(
      paths: [
        "network.retries.delay", "network.retries.lookup_delay", "network.retries.max_delay",
      ],
      reason: "a schema compares no two keys, and no delay may be above `max_delay`"
    ),
    Exception(
      paths: ["segments[].expect.min_size", "segments[].expect.max_size"],
      reason: "a schema compares no two keys, and `min_size` must not be above `max_size`"
    ),
    Exception(
      paths: ["vars", "vars.lang"],
      reason: "another value names the variable, which must be there and fit"
    ),
    Exception(
      paths: ["transport_security.NSExceptionDomains.legacy.example.com.legacy_tls"],
      changes: unset.union(["false", #""no""#]),
      reason: "it is needed for the version of TLS beside it"
    ),
    Exception(
      paths: ["cache.remote.url"],
      changes: unset,
      reason: "it is needed where `required` is true beside it"
    ),
    Exception(
      paths: ["segments[].head"],
      changes: ["true", #""true""#],
      reason: "there is nothing to publish then, and `publish` stands beside it"
    ),
    Exception(
      paths: ["segments[].store"],
      changes: ["false", #""no""#],
      reason: "no body has an age then, and `min_age` is beside it"
    ),
    Exception(
      paths: ["manifests", "segments[].base"],
      changes: ["no key"],
      reason: "it is needed for a name or a URL elsewhere"
    ),
    Exception(
      paths: ["segments[].publish", "segments[].publish.dir"],
      changes: unset.union(["{}"]),
      reason: "only the layout `hf` has a folder by default"
    ),
    Exception(
      paths: ["include", "include[]"],
      changes: unset,
      reason: "the file has to be there"
    ),
    Exception(
      paths: ["profiles.night.set", "profiles.night.set.cache.size"],
      reason: "its keys are paths, each to a key of the configuration or of a segment"
    ),
  ]

  private static let hasValidator = Tool("python3")?.run(["-c", "import jsonschema"]).status == 0

  @Test(
    "The schema accepts what the program accepts, with listed exceptions",
    .enabled(if: hasValidator, "needs python3-jsonschema")
  )
  func probes() async throws {
    let probes = try Self.probes()
    async let program = Self.verdicts(of: probes)
    let schema = try Self.verdictsOfSchema(about: probes)
    var unlisted: [String] = []
    var listed: [Int: Int] = [:]
    for (probe, (isAccepted, isAllowed)) in zip(probes, zip(await program, schema))
    where isAccepted != isAllowed {
      let exception = Self.exceptions.firstIndex {
        isAllowed && $0.paths.contains(probe.path) && $0.changes?.contains(probe.change) ?? true
      }
      if let exception {
        listed[exception, default: 0] += 1
      } else {
        unlisted.append(
          "\(probe.path): \(probe.change) is \(isAccepted ? "taken" : "refused"): \(probe.document)"
        )
      }
    }
    #expect(unlisted.isEmpty, "\(unlisted.prefix(20).joined(separator: "\n"))")
    #expect(listed.values.reduce(0, +) <= 100, "\(listed)")
    #expect(probes.count > (Campaign.isLong ? 26_000 : 18_000))
    if Campaign.isLong { #expect(listed.count == Self.exceptions.count, "\(listed)") }
  }

  @Test(
    "The probes include accepted and refused ones",
    .enabled(if: hasValidator, "needs python3-jsonschema")
  )
  func balance() throws {
    let probes = try Self.probes().enumerated().filter { $0.offset.isMultiple(of: 40) }.map(
      \.element
    )
    let accepted = probes.filter(Self.isAccepted)
    #expect((probes.count / 10..<probes.count / 2).contains(accepted.count))
  }

  private static func probes() throws -> [SchemaProbe] {
    let file = RepositoryFile.top("Tests/PrefetchConfigTests/Snapshots/full/full.json")
    let whole = try #require(file.read().flatMap { JSONValue(text: $0) })
    guard case .object(let members) = whole else { return [] }
    let more: [(String, JSONValue)] = [
      ("include", ["more.json"]),
      ("profiles", ["night": ["vars": ["lang": "de"], "set": ["cache.size": "1GB"]]]),
    ]
    return SchemaProbes(
      of: .object(members + more),
      values: Campaign.isLong ? values + rareValues : values,
      keys: [#""zzz""#, #""x_own""#, #""x-own""#, #""""#, #""a.example""#]
    ).all
  }

  // MARK: The schema

  private static func verdictsOfSchema(about probes: [SchemaProbe]) throws -> [Bool] {
    let folder = try TemporaryDirectory()
    let documents = RepositoryFile(path: "\(folder.path)/documents")
    documents.write(probes.map { $0.document + "\n" }.joined())
    let schema = RepositoryFile(path: "\(folder.path)/schema")
    schema.write(JSONWriter.string(JSONSchema.configuration))
    let judge = RepositoryFile.top("Tests/PrefetchCLITests/Schemas/judge.py").path
    let answer = try #require(Tool("python3")).run([judge, schema.path, documents.path])
    let verdicts = answer.output.filter { "01".contains($0) }.map { $0 == "1" }
    try #require(answer.status == 0 && verdicts.count == probes.count, "\(answer)")
    return verdicts
  }

  // MARK: The program

  private static func verdicts(of probes: [SchemaProbe]) async -> [Bool] {
    let half = probes.count / 2
    async let first = probes[..<half].map(isAccepted)
    async let second = probes[half...].map(isAccepted)
    return await first + second
  }

  /// Returns whether the program accepts a configuration; all files exist except those below
  /// `/missing`.
  private static func isAccepted(_ probe: SchemaProbe) -> Bool {
    let document = Array(probe.document.utf8)
    let environment = ConfigurationEnvironment(
      readFile: { path in
        if path == "/work/probe.json" { return .success(document) }
        return path.hasPrefix("/missing") ? .failure(.missing) : .success(Array("{}".utf8))
      },
      realPath: { $0 },
      currentDirectory: "/work",
      homeDirectory: "/home/me"
    )
    var loader = ConfigurationLoader()
    loader.files = ["probe.json"]
    loader.allowsUnsetSecrets = true
    return !loader.load(in: environment).hasErrors
  }

  // MARK: The values

  private static let values = texts(
    #"""
    null  true  false  0  1  -1  2  400  1.5  1e3  4000000000
    ""  " "  "true"  "1"  "1.5"  "0644"  "10s"  "10MB"  "2MB/s"  "unlimited"  "none"  "use"  "text"
    "cdn.example.com"  "*.example.com"  "CDN.example.com"  "https://cdn.example.com/x"
    "ftp://x.example/"  "./file"  "../up"  "2027-06-30"  "2027-02-30"  "22:00-06:00"
    "Europe/Berlin"  "image/png"  "${env:NOT_SET}"  "${nope}"  "${license}"  []  ["a"]  {}
    """#
  )

  private static let rareValues = texts(
    #"""
    640  1.0  1.1  1e30  "no"  "5m"  "8Mbps"  "immutable"  "192.0.2.0/24"  "http://h.example:80"
    "https://me:x@h.example/"  "https://h.example/{segment}"  "/a/*"  "2026-11-20T05:00:00Z"
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  "10 GiB"  "${file:/missing}"
    "${env:NOT_SET"  "a\nb"  "über"  [""]  [null]
    """#
  )

  /// JSON values as they are written, two blanks or a line apart.
  private static func texts(_ lines: String) -> [String] {
    lines.split(separator: "\n").flatMap { $0.split(separator: "  ") }.map(String.init)
  }
}
