import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// Values from variables, files and credentials.
struct InterpolationTests {
  @Test("Variables, files, credentials and own variables are filled in")
  func fills() {
    var world = TestWorld([
      "conf/prefetch.yaml": """
      name: ${env:SITE:-main}-${var:color}
      license: ${file:key.txt}
      vars: {color: "dark-${env:SHADE}", price: 5$$}
      bundle_id: a$b${env:EMPTY:-c}
      manifests: https://cdn.example.com/${var:color}/{segment}.json
      network: {user_agent: "${credential:agent}"}
      segments:
        - name: a
          headers: {Authorization: "Bearer ${license}"}
      """,
      "conf/key.txt": "k3y-from-file\n",
      "/run/credentials/agent": "agent-from-systemd",
    ])
    world.variables = ["SHADE": "blue", "EMPTY": "", "CREDENTIALS_DIRECTORY": "/run/credentials"]
    let loaded = world.load("conf/prefetch.yaml")
    #expect(loaded.rendered == "\n")
    let configuration = loaded.configuration
    #expect(configuration.name == "main-dark-blue")
    #expect(configuration.license?.value == "k3y-from-file")
    #expect(configuration.bundleID == "a$bc")
    #expect(configuration.variables["price"] == "5$")
    #expect(configuration.network.userAgent == "agent-from-systemd")
    #expect(configuration.segments[0].declaration.headers.first?.value == "Bearer k3y-from-file")
    #expect(loaded.canonical("network.user_agent") == .string("***"))
    #expect(loaded.secrets.contains("agent-from-systemd"))
  }

  @Test("A check without secrets treats unset variables as set")
  func acceptsPlaceholders() {
    let yaml = """
      license: ${file:/run/key}
      segments:
        - {name: a, manifest: "https://${env:HOST}/a.json", headers: {X-Key: "${license}"}}
      cache: {size: "${env:SIZE}"}
      """
    #expect(load(yaml: yaml).codes.count == 4)
    #expect(load(yaml: yaml) { $0.allowsUnsetSecrets = true }.rendered == "\n")
  }

  @Test("Own variables that refer to each other in a circle are refused")
  func refusesCircles() {
    let loaded = load(yaml: "vars: {a: '${var:b}', b: '${var:a}'}\nsegments: []\n")
    #expect(Set(loaded.codes) == ["config.bad-variable"])
  }

  @Test("A literal secret in a file that others can read causes a warning")
  func warnsOfReadableSecrets() {
    var world = TestWorld(["prefetch.yaml": "license: literal-key\nsegments: []\n"])
    #expect(world.load("prefetch.yaml").diagnostics.isEmpty)
    world.readableByOthers = ["prefetch.yaml"]
    let loaded = world.load("prefetch.yaml")
    #expect(loaded.codes == ["config.readable-secret"])
    #expect(!loaded.rendered.contains("literal-key"))
    world.files["prefetch.yaml"] = Array("license: ${env:KEY:-none}\nsegments: []\n".utf8)
    #expect(world.load("prefetch.yaml").diagnostics.isEmpty)
  }

  @Test("Text that came from a secret file is not quoted when it is wrong")
  func doesNotQuoteSecrets() {
    let world = TestWorld([
      "p.yaml": "bundle_id: x\ncache: {ttl: '${file:t}'}\nsegments: []\n", "t": "hush-hush",
    ])
    let loaded = world.load("p.yaml")
    #expect(loaded.diagnostics.containsErrors)
    #expect(!loaded.rendered.contains("hush-hush"))
  }
}
