import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite(
  "A machine without a network",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Namespace.isAvailable, "needs a network namespace of its own (unshare)")
)
struct NoNetworkTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  private var away: [String] {
    (0..<30).map { "http://192.0.2.\($0 + 2)/x" } + ["https://nowhere.example/x"]
  }

  @Test(
    "A machine without a network reports that once and sends nothing",
    arguments: [false, true]
  )
  func saidOnce(hasLoopback: Bool) throws {
    home.write(
      """
      transport_security: { NSAllowsArbitraryLoads: true }
      cache: { min_free: 0 }
      segments:
        - { name: listed, manifest: "http://192.0.2.1/m.json" }
        - { name: plain, urls: [\(away.joined(separator: ", "))] }
      """
    )
    let up = hasLoopback ? "ip link set lo up;" : ""
    let run = try home.shell("\(Namespace.begin) '\(up) exec $prefetch --json'")
    #expect(run.status == 69, "\(run)")
    let report = try run.json()
    let codes = report.list("items").map { $0.text("error.code") }
    #expect(codes == Array(repeating: "no_network", count: away.count))
    #expect(report.text("segments.0.manifest.error.code") == "no_network")
    #expect(report.at("exit.retryable")?.text == "true")
    let totals = try run.totals()
    #expect(totals["requests"] == 0)
    #expect(totals["retries"] == 0)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
    #expect(run.errors.contains("no network") && run.errors.contains("32 items and manifests"))
  }

  @Test("A machine without a network still reaches its own servers")
  func itself() throws {
    FileTree.makeFolder(home.path("origin"))
    home.write("here\n", to: "origin/file.txt")
    let script = """
      ip link set lo up
      $prefetch serve --origin origin --listen 127.0.0.1:0 > address &
      while ! grep -q http address; do sleep 0.01; done
      here=$(cat address)
      {
        echo "transport_security: { NSAllowsArbitraryLoads: true }"
        echo "cache: { min_free: 0 }"
        echo "segments: [{ name: s, urls: [http://192.0.2.1/x, ${here}file.txt, http://localhost:${here##*:}file.txt] }]"
      } > prefetch.yaml
      $prefetch -j 1 --json
      status=$?
      kill %1
      exit $status
      """
    home.write(script, to: "script")
    let run = try home.shell("\(Namespace.begin) '. ./script'")
    #expect(run.status == 3, "\(run)")
    #expect(try run.totals()["fetched"] == 2)
    #expect(try run.totals()["requests"] == 2)
    #expect(run.errors.contains("no network"))
  }

  @Test("A refused connection is not reported as a missing network and not counted as a request")
  func refused() throws {
    let address = "http://127.0.0.1:\(LoopbackPort.free())/x"
    home.configure(
      "segments: [{ name: s, urls: [\"\(address)\"] }]\nnetwork: { retries: { delay: 1ms } }"
    )
    let run = try home.run("--json")
    #expect(run.status == 69, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "connect")
    #expect(try run.totals()["requests"] == 0)
    #expect(try run.totals()["retries"] == 0)
  }
}

/// A network namespace in which no interface is up.
enum Namespace {
  static let begin = "unshare --user --map-root-user --net bash -c"

  static let isAvailable: Bool = {
    guard Tool.isInstalled("unshare"), Tool.isInstalled("ip"), let home = try? Home(),
      let run = try? home.tool("unshare", "--user", "--map-root-user", "--net", "true")
    else { return false }
    return run.status == 0
  }()
}
