import PrefetchTestSupport
import Testing

@Suite(
  "A large body from a real server",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled && Certificate.isPossible, "needs nginx and openssl")
)
struct RangeServerTests {
  @Test(
    "nginx sends ranges of a large body over HTTP/1.1, and the whole over HTTP/2",
    arguments: [("auto", false), ("auto", true), ("1.1", true)]
  )
  func limited(_ version: String, _ isSecure: Bool) throws {
    let home = try Home(isInMemory: true)
    let certificate = try Certificate(in: home)
    var options = Nginx.Options()
    options.rate = 30
    if isSecure {
      options.certificate = certificate.path
      options.key = certificate.key
    }
    let nginx = try Nginx(options)
    let body = RangeOrigin.body(mebibytes: 96)
    nginx.write(body, to: "large.bin")
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(nginx.url("large.bin"))"] }]
      cache: { min_free: 0 }
      tls: { ca_file: ca.pem }
      network: { per_host: 16, http: \(version) }
      """
    )
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(Array(FileTree.objects(home.cache).keys) == [Digest.hexadecimal(body)])
    let statuses = nginx.drainRequests().map(\.status)
    #expect(statuses.contains(200))
    #expect(statuses.contains(206) == (!isSecure || version == "1.1"), "\(statuses)")
  }
}
