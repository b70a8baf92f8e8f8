import PrefetchTestSupport
import Testing

/// Other projects' servers as a shared store.
@Suite("A shared store on a real server", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TierServerTests {
  private static let count = 12
  private static let root = "\(#filePath)".split(separator: "/").dropLast(4).map { "/\($0)" }
    .joined()
  private static let login = "key:secret-of-the-bucket:lent-token"
  private static let moto = "\(root)/.build/moto/bin/moto_server"

  @Test(
    "nginx with WebDAV stores and returns every shared body",
    .enabled(if: Nginx.isInstalled, "needs nginx")
  )
  func nginx() throws {
    let ground = try TierGround()
    ground.publish(Self.count)
    var options = Nginx.Options()
    options.acceptsFiles = true
    let nginx = try Nginx(options)
    let remote = #"url: "\#(nginx.url("deep/tier"))""#
    let first = try ground.machine("\(remote), mode: read_write")
    let fill = try first.run("--json")
    #expect(fill.status == 0 && fill.errors.isEmpty, "\(fill)")
    #expect(try fill.json().number("remote.written") == Self.count + 1)
    _ = ground.drainRequests()
    let second = try ground.machine("\(remote), trust: true")
    let run = try second.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(ground.drainRequests() == [])
    try ground.expectAll(Self.count, in: second)
    // An empty folder of the same server is an empty tier.
    let third = try ground.machine(#"url: "\#(nginx.url("other"))", trust: true"#)
    let miss = try third.run("--json")
    #expect(miss.status == 0 && miss.errors.isEmpty, "\(miss)")
    #expect(ground.drainRequests().count == Self.count + 1)
  }

  @Test(
    "A bucket gets signed requests and nothing unsigned",
    .enabled(if: FileTree.exists(Self.moto), "needs moto_server, which `--slow` installs")
  )
  func bucket() throws {
    let ground = try TierGround()
    ground.publish(Self.count)
    let port = LoopbackPort.free()
    let folder = try TemporaryDirectory()
    let moto = try RunningProgram(
      Self.moto,
      ["-H", "127.0.0.1", "-p", "\(port)"],
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path],
      folder: folder.path
    )
    defer { moto.signal(9) }
    try #require(LoopbackPort.waitUntilOpen(port))
    LoopbackPort.exchange(
      port,
      "PUT /warm HTTP/1.0\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n\r\n"
    )
    let remote = """
      kind: s3, url: "http://127.0.0.1:\(port)/warm/some=prefix", timeout: 5s, \
      credentials: "${env:BUCKET}"
      """
    var first = try ground.machine("\(remote), mode: read_write")
    first.variables["BUCKET"] = Self.login
    let fill = try first.run("--json")
    #expect(fill.status == 0 && fill.errors.isEmpty, "\(fill)")
    #expect(try fill.json().number("remote.written") == Self.count + 1)
    _ = ground.drainRequests()
    var second = try ground.machine("\(remote), trust: true")
    second.variables["BUCKET"] = Self.login
    let run = try second.run("--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(ground.drainRequests() == [])
    try ground.expectAll(Self.count, in: second)
    let doctor = try first.run("doctor")
    #expect(doctor.lines.contains("tier\t127.0.0.1:\(port) may be read and written"), "\(doctor)")
    var astray = try ground.machine(
      remote.replacing("/warm/", with: "/cold/") + ", mode: read_write"
    )
    astray.variables["BUCKET"] = Self.login
    let lost = try astray.run("doctor")
    #expect(
      lost.output.contains("tier\twrong: 127.0.0.1:\(port) answered 404 to a body"),
      "\(lost)"
    )
  }

  @Test(
    "botocore makes the signatures that ours are compared with",
    .enabled(
      if: FileTree.exists("/usr/lib/python3/dist-packages/botocore"),
      "needs python3-botocore"
    )
  )
  func botocore() throws {
    let folder = "\(Self.root)/Tests/PrefetchCryptoTests/Signatures"
    let run = try Home().tool("python3", "\(folder)/signatures.py")
    let recorded = FileTree.read("\(folder)/signatures.json") ?? []
    #expect(run.output == String(decoding: recorded, as: UTF8.self), "\(run)")
  }
}
