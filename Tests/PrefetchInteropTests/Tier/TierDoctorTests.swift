import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("`doctor` of a store that machines share", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TierDoctorTests {
  private let ground: TierGround
  private static let empty =
    "/t/cas/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  init() throws {
    ground = try TierGround()
    ground.publish(2)
  }

  /// Returns a finding's values, and whether each is right.
  private func findings(
    _ name: String,
    _ run: ProgramRun
  ) throws -> [(value: String, isRight: Bool)] {
    try run.json().list("findings").filter { $0.text("name") == name }.map {
      (value: $0.text("value") ?? "", isRight: $0.text("ok") == "true")
    }
  }

  @Test(
    "`doctor` requests the empty body of the shared store and leaves no other body there",
    arguments: ["read", "write", "read_write"]
  )
  func healthy(mode: String) throws {
    let home = try ground.machine("mode: \(mode), timeout: 30s")
    let run = try home.run("doctor", "--json")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let reported = try findings("tier", run)
    #expect(reported.count == 1 && reported[0].isRight, "\(run)")
    #expect(reported[0].value.contains("may be \(mode == "read" ? "read" : "")"), "\(reported)")
    let methods = mode == "read" ? ["GET"] : ["GET", "PUT"]
    #expect(ground.tier.requests.map(\.method) == methods)
    #expect(ground.tier.requests.allSatisfy { $0.path == Self.empty })
    let files = ground.store.files
    #expect(files == (mode == "read" ? [:] : [Self.empty: []]))
    #expect(ground.drainRequests() == [])
    #expect(!FileTree.exists(home.cache))
    // In the second check the empty body is already stored.
    #expect(try home.run("doctor", "--json").status == 0)
    #expect(try home.run("-q").status == 0)
    try ground.expectAll(2, in: home)
  }

  /// Faults of a server that make it unusable as a tier.
  enum Trouble: String, CaseIterable {
    case unreachable, silence, login, busy, moved, refusal, writeRefusal, noWriting, noFolders,
      full,
      other

    var isOfWriting: Bool {
      switch self {
      case .writeRefusal, .noWriting, .noFolders, .full: true
      case .unreachable, .silence, .login, .busy, .moved, .refusal, .other: false
      }
    }

    var word: String {
      switch self {
      case .unreachable, .silence: "cannot be asked"
      case .login: "another kind of server"
      case .busy: "503"
      case .moved: "redirects of it are not followed"
      case .refusal, .writeRefusal: "cache.remote.credentials"
      case .noWriting: "dav_methods PUT"
      case .noFolders: "create_full_put_path"
      case .full: "full"
      case .other: "418"
      }
    }

    var script: @Sendable (LoopbackRequest, [UInt8]?) -> Script? {
      { request, _ in
        guard self.isOfWriting == (request.method == "PUT") else { return nil }
        switch self {
        case .unreachable: return nil
        case .silence: return Script([.silence])
        case .login: return .respond(200, text: "<html>log in</html>")
        case .busy: return .respond(503, [("Retry-After", "3600")])
        case .moved: return .respond(301, [("Location", "/elsewhere")])
        case .refusal: return .respond(401)
        case .writeRefusal: return .respond(403)
        case .noWriting: return .respond(405)
        case .noFolders: return .respond(409)
        case .full: return .respond(507)
        case .other: return .respond(418)
        }
      }
    }
  }

  @Test(
    "`doctor` names why runs cannot use the shared store, and ends as such a run or with 1",
    arguments: Trouble.allCases
  )
  func troubles(_ trouble: Trouble) throws {
    ground.store.behave(trouble.script)
    let nowhere = "url: \"http://127.0.0.1:\(LoopbackPort.free())/t\", "
    let timeout = trouble == .silence ? "500ms" : "30s"
    for isRequired in [false, true] {
      let address = trouble == .unreachable ? nowhere : ""
      let home = try ground.machine(
        "\(address)mode: read_write, required: \(isRequired), timeout: \(timeout)"
      )
      let doctor = try home.run("doctor", "--json")
      let reported = try findings("tier", doctor)
      #expect(reported.count == 1 && !reported[0].isRight, "\(doctor)")
      #expect(reported[0].value.contains(trouble.word), "\(reported)")
      #expect(doctor.status == (isRequired ? 69 : 1), "\(doctor)")
      #expect(try home.run("-q").status == (isRequired ? 69 : 0))
      // A machine that only reads is not affected.
      guard trouble.isOfWriting else { continue }
      let reader = try ground.machine("mode: read, timeout: 30s")
      let reading = try findings("tier", try reader.run("doctor", "--json"))
      #expect(reading.map(\.isRight) == [true])
    }
  }

  @Test("`doctor` sends the credentials of the shared store and prints none of them")
  func credentials() throws {
    let home = try ground.machine(
      """
      mode: read_write, timeout: 30s, credentials: canary-9c1f, headers: { X-Team: canary-77aa }
      """
    )
    let run = try home.run("doctor", "-vv")
    #expect(run.status == 0 && !"\(run)".contains("canary"), "\(run)")
    #expect(
      ground.tier.requests.allSatisfy {
        $0.headers["Authorization"] == "Bearer canary-9c1f"
          && $0.headers["X-Team"] == "canary-77aa"
      }
    )
  }

  @Test(
    "`doctor` distinguishes wrong credentials from missing ones where the shared store refuses",
    arguments: ["http", "s3"],
    [false, true]
  )
  func refusal(kind: String, showsAny: Bool) throws {
    ground.store.behave { _, _ in .respond(403) }
    let credentials = showsAny ? #", credentials: "key:canary-5e5e""# : ""
    for mode in ["read", "read_write", "write"] {
      let home = try ground.machine("kind: \(kind), mode: \(mode), timeout: 30s\(credentials)")
      let run = try home.run("doctor", "--json")
      let reported = try findings("tier", run)
      #expect(reported.count == 1 && !reported[0].isRight && !"\(run)".contains("canary"), "\(run)")
      #expect(reported[0].value.contains("mode: read`") == (mode == "write"), "\(reported)")
      let word = showsAny ? "look at" : kind == "s3" ? "nothing signed" : "without credentials"
      #expect(reported[0].value.contains(word), "\(reported)")
    }
  }

  @Test("`doctor` obeys the transport rules for the shared store, as a run does")
  func rules() throws {
    let home = try ground.machine("")
    home.write(
      """
      segments: [{ name: s, urls: [], allow_empty: true }]
      cache: { min_free: 0, remote: "http://tier.invalid/t" }
      """,
      to: "plain.yaml"
    )
    let doctor = try home.run("doctor", "-c", "plain.yaml", "--json")
    #expect(doctor.status == 5, "\(doctor)")
    let reported = try findings("tier", doctor)
    #expect(
      reported.count == 1 && !reported[0].isRight && reported[0].value.contains("tier.invalid")
    )
    #expect(try home.run("-c", "plain.yaml").status == 5)
  }

  @Test(
    "`doctor` compares the clock of the shared store with this machine's",
    arguments: [-7_200, 0, 7_200] as [Int64]
  )
  func clock(ahead: Int64) throws {
    ground.store.behave { request, _ in
      let theirs = RunningClock().now().wall + .seconds(ahead)
      return .respond(404, [("Date", HTTPDate.format(theirs))])
    }
    let home = try ground.machine("timeout: 30s")
    let run = try home.run("doctor", "--json")
    #expect(run.status == (ahead == 0 ? 0 : 1), "\(run)")
    let reported = try findings("clock", run).filter { $0.value.contains("127.0.0.1") }
    #expect(reported.count == (ahead == 0 ? 0 : 1), "\(run)")
    for line in reported {
      #expect(!line.isRight && line.value.contains(ahead < 0 ? "behind" : "ahead of"), "\(line)")
      #expect(line.value.contains("119 minutes") || line.value.contains("120 minutes"), "\(line)")
    }
  }

  @Test("`doctor` compares the clock of a shared store that refuses requests too")
  func refusingClock() throws {
    ground.store.behave { _, _ in .respond(403, [("Date", "Tue, 01 Jan 2030 00:00:00 GMT")]) }
    let home = try ground.machine("kind: s3, timeout: 30s, credentials: \"key:canary-1d1d\"")
    let run = try home.run("doctor", "--json")
    #expect(try findings("tier", run).map(\.isRight) == [false], "\(run)")
    let reported = try findings("clock", run).filter { !$0.isRight }
    #expect(reported.count == 1 && reported[0].value.contains("refuses what is signed"), "\(run)")
  }

  @Test("`doctor` reports a shared store that answers slowly")
  func slow() throws {
    ground.store.behave { _, _ in Script([.wait(.milliseconds(1_600))] + Script.respond(404).steps)
    }
    let home = try ground.machine("timeout: 3s")
    let run = try home.run("doctor", "--json")
    #expect(run.status == 1, "\(run)")
    #expect(
      try findings("tier", run).contains { !$0.isRight && $0.value.contains("timeout") },
      "\(run)"
    )
  }

  @Test(
    "`doctor` finds out whether nginx accepts bodies",
    .enabled(if: Nginx.isInstalled, "needs nginx"),
    arguments: [false, true]
  )
  func nginx(acceptsFiles: Bool) throws {
    var options = Nginx.Options()
    options.acceptsFiles = acceptsFiles
    let nginx = try Nginx(options)
    let home = try ground.machine(
      #"url: "\#(nginx.url("deep/t"))", mode: read_write, timeout: 30s"#
    )
    let run = try home.run("doctor", "--json")
    #expect(run.status == (acceptsFiles ? 0 : 1), "\(run)")
    let reported = try findings("tier", run)
    #expect(reported.count == 1 && reported[0].isRight == acceptsFiles, "\(run)")
    #expect(
      reported[0].value.contains(acceptsFiles ? "read and written" : "dav_methods"),
      "\(reported)"
    )
    let left = FileTree.names(nginx.files + "/deep/t/cas")
    #expect(left == (acceptsFiles ? [String(Self.empty.dropFirst("/t/cas/".count))] : []))
    let others = try home.tool("find", nginx.files, "-type", "f", "-size", "+0").output
    #expect(others.isEmpty)
  }

  @Test("A required shared store without a `url` is an error before any request")
  func placeless() throws {
    let home = try Home(isInMemory: true)
    home.configure("cache: { remote: { required: true } }\nsegments: []")
    for command in ["check", "run"] {
      let run = try home.run(command)
      #expect(run.status == 78 && run.errors.contains("no `url` says where"), "\(run)")
    }
  }
}
