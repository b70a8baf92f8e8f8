import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The log of a run", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct RunLogTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    server = try LoopbackServer { request in
      switch request.path {
      case "/gone": Script.respond(404, text: "gone")
      case "/moved":
        Script.respond(
          200,
          [("Set-Cookie", "id=letmein"), ("X-Served-By", "rack 7")],
          text: "moved"
        )
      case "/busy": Script.respond(503, text: "later")
      default: Script.respond(200, text: request.path)
      }
    }
    home = try Home()
  }

  private func declare(_ paths: String..., more: String = "") {
    let urls = paths.map { "\"\(server.address($0))\"" }.joined(separator: ", ")
    home.configure(
      """
      bundle_id: org.example.news
      segments:
        - { name: news, urls: [\(urls)], headers: { X-Own: "letmein-please" } }
      cache: { min_free: 0 }
      \(more)
      """
    )
  }

  /// Returns the lines of a stream, each of which must be an object.
  private func objects(_ text: String) throws -> [Node] {
    try text.split(separator: "\n").map { try Node(json: String($0)) }
  }

  // MARK: Traces

  @Test("`-vv` shows the connection, the timing and both heads of a request without secrets")
  func trace() throws {
    declare("/moved?sig=letmein")
    let run = try home.run("-vv")
    #expect(run.status == 0, "\(run)")
    let lines = run.errors.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("request: \(server.address("/moved?sig=*** 200, "))") })
    #expect(lines.contains("  address 127.0.0.1 over HTTP/1.1, a new connection"), "\(run)")
    #expect(lines.contains { $0.contains("first byte after ") && $0.hasSuffix(" ms") }, "\(run)")
    #expect(lines.contains("  > GET /moved?sig=*** HTTP/1.1"), "\(run)")
    #expect(lines.contains("  > Host: 127.0.0.1:\(server.port)"), "\(run)")
    #expect(lines.contains("  > X-Own: ***"), "\(run)")
    #expect(lines.contains("  < 200") && lines.contains("  < X-Served-By: rack 7"), "\(run)")
    #expect(lines.contains("  < Set-Cookie: ***"), "\(run)")
    #expect(!(run.errors + run.output).contains("letmein"), "\(run)")
  }

  @Test("`-v` reports failed requests and waits")
  func waits() throws {
    declare("/fine", "/busy", more: "network: { retries: { items: 1, delay: 10ms } }")
    let run = try home.run("-v")
    #expect(run.status == 69 || run.status == 3, "\(run)")
    let busy = server.address("/busy")
    #expect(run.errors.contains("request: \(busy) 503, "), "\(run)")
    #expect(run.errors.contains(", attempt 2"), "\(run)")
    #expect(run.errors.contains("waits "), "\(run)")
    #expect(
      run.errors.contains("`127.0.0.1:\(server.port)` answered 503; then \(busy) again"),
      "\(run)"
    )
    #expect(!run.errors.contains("request: \(server.address("/fine"))"), "\(run)")
    #expect(!run.errors.contains("  > GET"), "\(run)")
  }

  @Test(
    "`-v` names the refused certificate of a server and its TLS version",
    .enabled(if: Nginx.isInstalled && Certificate.isPossible, "needs nginx and openssl")
  )
  func certificate() throws {
    let certificate = try Certificate(in: home)
    var options = Nginx.Options()
    options.certificate = certificate.path
    options.key = certificate.key
    let nginx = try Nginx(options)
    nginx.write("body", to: "f")
    home.write("segments: [{ name: basics, urls: [\"\(nginx.url("f"))\"] }]\n")
    let refused = try home.run("-v")
    #expect(refused.status == 5, "\(refused)")
    let names =
      ", certificate of CN=127.0.0.1 for IP Address:127.0.0.1, by CN=A test authority, until "
    let shows = { (run: ProgramRun) in
      run.errors.split(separator: "\n").contains {
        $0.hasPrefix("  TLSv1.") && $0.contains(names)
      }
    }
    #expect(shows(refused), "\(refused)")
    home.write(
      """
      segments: [{ name: basics, urls: ["\(nginx.url("f"))"] }]
      tls: { ca_file: ca.pem }

      """
    )
    let trusted = try home.run("-vv")
    #expect(trusted.status == 0, "\(trusted)")
    #expect(shows(trusted), "\(trusted)")
    #expect(trusted.errors.contains("over HTTP/2, a new connection"), "\(trusted)")
    #expect(trusted.errors.contains("  > GET /f HTTP/2"), "\(trusted)")
    #expect(trusted.errors.contains(", tls "), "\(trusted)")
  }

  @Test("`get -vv` traces requests as a run does")
  func getTrace() throws {
    declare("/fine")
    let run = try home.run("get", server.address("/fine"), "-vv")
    #expect(run.status == 0 && run.output == "/fine", "\(run)")
    #expect(run.errors.contains("  > GET /fine HTTP/1.1"), "\(run)")
  }

  // MARK: JSON

  @Test(
    "`--log-format json` makes every line an object",
    arguments: [[], ["-vv"], ["--progress", "always"], ["plan"], ["--no-such-option"]]
  )
  func json(_ arguments: [String]) throws {
    declare("/fine", "/gone", more: "network: { metered: use }")
    let run = try home.run(arguments + ["--log-format", "json"])
    let lines = try objects(run.errors)
    #expect(!lines.isEmpty, "\(run)")
    for line in lines {
      #expect(line.text("time")?.hasSuffix("Z") == true, "\(run)")
      #expect(["debug", "info", "warning", "error"].contains(line.text("level") ?? ""), "\(run)")
      #expect(line.text("message")?.isEmpty == false, "\(run)")
      #expect(line.mapping?.contains { $0.key == "run" } == true, "\(run)")
    }
  }

  @Test("`--log-format json` names the item, the segment and the run of a failure")
  func subject() throws {
    declare("/fine", "/gone")
    let run = try home.run("--log-format", "json", "--report", "json=report.json")
    let report = try Node(json: try #require(home.read("report.json")))
    let line = try #require(objects(run.errors).first { $0.text("level") == "error" }, "\(run)")
    #expect(line.text("code") == "gone", "\(run)")
    #expect(line.text("url") == server.address("/gone"), "\(run)")
    #expect(line.text("segment") == "news", "\(run)")
    #expect(line.text("run") == report.text("run.id"), "\(run)")
  }

  // MARK: The file

  private func logs() -> [String] {
    FileTree.names("\(home.state)/logs")
  }

  private func log() throws -> String {
    let name = try #require(logs().first { $0.hasSuffix("_org.example.news.log") }, "\(logs())")
    let bytes = try #require(FileTree.read("\(home.state)/logs/\(name)"))
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "A run's log is one file a day, also for quiet runs, and without traces",
    arguments: [[], ["-q"], ["-vv"]]
  )
  func kept(_ arguments: [String]) throws {
    declare("/fine", "/gone?sig=letmein")
    #expect(try home.run(arguments).status == 3)
    #expect(try home.run(arguments).status == 3)
    #expect(logs().count == 1)
    let text = try log()
    let lines = text.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("20") && $0.contains("Z ") }, "\(text)")
    #expect(lines.count { $0.contains(" run ") && $0.hasSuffix(" begins") } == 2, "\(text)")
    #expect(lines.count { $0.contains(" total  incomplete  2 items: ") } == 2, "\(text)")
    #expect(text.contains("/gone?sig=***: ") && !text.contains("letmein"), "\(text)")
    #expect(!text.contains("request: ") && !text.contains("  > GET"), "\(text)")
    let path = "\(home.state)/logs/\(logs()[0])"
    #expect(FileTree.listing(path)[path].map { $0.mode & 0o777 } == 0o600)
  }

  @Test("A run's log is removed after two weeks, and other files are not")
  func retention() throws {
    declare("/fine")
    try #require(home.tool("mkdir", "-p", "\(home.state)/logs").status == 0)
    for name in ["2020-01-01_x.log", "2020-01-01_x.txt", "notes.log", "2199-01-01_x.log"] {
      FileTree.write([1], to: "\(home.state)/logs/\(name)")
    }
    #expect(try home.run().status == 0)
    #expect(logs().count == 4)
    #expect(!logs().contains("2020-01-01_x.log"), "\(logs())")
  }

  @Test(
    "Dry runs and runs with a log file of their own keep no daily log",
    arguments: [
      ["plan"], ["status"], ["list"], ["check"], ["--log-file", "own.log"],
    ]
  )
  func notKept(_ arguments: [String]) throws {
    declare("/fine")
    #expect(try home.run(arguments).status == 0)
    #expect(logs() == [])
    if arguments.last == "own.log" { #expect(home.read("own.log") != nil) }
  }

  @Test("A run without a folder for its logs succeeds and keeps none")
  func unwritable() throws {
    declare("/fine")
    try #require(home.tool("mkdir", "-p", home.state).status == 0)
    FileTree.write([1], to: "\(home.state)/logs")
    let run = try home.run()
    #expect(run.status == 0 && run.errors == "", "\(run)")
  }

  // MARK: Quiet

  @Test("An accepted failure is a warning, and a quiet run prints nothing about it")
  func accepted() throws {
    declare("/fine", "/gone")
    let quiet = try home.run("-q", "--accept", "incomplete")
    #expect(quiet.status == 0 && quiet.output == "" && quiet.errors == "", "\(quiet)")
    let result = try home.run("--accept", "incomplete")
    #expect(result.status == 0 && result.errors.contains("warning: "), "\(result)")
    #expect(!result.errors.contains("error: "), "\(result)")
  }
}
