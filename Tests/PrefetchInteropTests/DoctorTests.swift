import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("`doctor`", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct DoctorTests {
  private let home: Home

  init() throws {
    home = try Home()
    home.configure("segments: [{ name: one, urls: [] , allow_empty: true }]")
  }

  private func findings(_ run: ProgramRun) -> [String: String] {
    Dictionary(
      run.lines.map { line in
        let fields = line.split(separator: "\t", maxSplits: 1)
        return (String(fields[0]), fields.count > 1 ? String(fields[1]) : "")
      }
    ) { first, _ in first }
  }

  @Test(
    "A version of HTTP that libcurl lacks is reported by `check`, `doctor`, `plan` and `run`"
  )
  func missingVersion() throws {
    let lacks = try !#require(findings(home.run("doctor"))["libcurl"]).contains("HTTP/3")
    home.configure(
      """
      segments: [{ name: one, urls: [] , allow_empty: true }]
      network: { http: "3" }
      transport: { rules: [{ match: { url: "https://a.example/**" }, http: "3" }] }
      """
    )
    for command in ["check", "doctor", "plan", "run"] {
      let run = try home.run(command)
      #expect(run.status == 0, "\(command): \(run)")
      for path in ["network.http", "transport.rules[0].http"] {
        let reported = (run.output + run.errors).contains("`\(path): 3` has no effect: libcurl ")
        #expect(reported == lacks, "\(command): \(run)")
      }
    }
    home.configure(
      "segments: [{ name: one, urls: [] , allow_empty: true }]\nnetwork: { http: \"2\" }"
    )
    #expect(try !home.run("check").errors.contains("has no effect"))
  }

  @Test("`doctor` reports the setup without a write and without a request")
  func healthy() throws {
    let run = try home.run("doctor")
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    let found = findings(run)
    #expect(found["configuration"]?.hasSuffix("prefetch.yaml: valid, 1 segment") == true)
    #expect(found["cache"] == "\(home.cache), which the first run makes")
    #expect(found["libcurl"]?.contains("HTTP/2") == true)
    for library in ["sqlite", "openssl", "libyaml", "expat", "zlib", "libmicrohttpd", "libidn2"] {
      #expect(found[library]?.contains(".") == true, "\(library)")
    }
    #expect(found["file system"]?.contains(" free, of which `cache.min_free` keeps ") == true)
    #expect(found["clock"]?.hasPrefix("20") == true && found["network"] != nil)
    let versions = try home.run("--version").lines
    #expect(versions.count == 9 && versions.contains { $0.hasPrefix("zlib ") }, "\(versions)")
    #expect(found["sends"] == "nothing but the requests for declared items")
    #expect(FileTree.names(home.cache).isEmpty)
    #expect(try home.run("-q").status == 0)
    let later = findings(try home.run("doctor"))
    #expect(later["cache"]?.hasPrefix("\(home.cache) (0") == true, "\(later)")
    #expect(later["state"]?.hasPrefix("\(home.state) (0") == true, "\(later)")
    let open = findings(
      try home.shell("chmod 644 \(home.state)/state.sqlite; exec \"$prefetch\" doctor")
    )
    #expect(open["state"]?.hasPrefix("wrong: ") == true, "\(open)")
    let late = findings(try home.shell("exec faketime -f -2d $prefetch doctor"))
    #expect(late["clock"]?.contains("before the end of the last run") == true, "\(late)")
  }

  @Test("`doctor` ends with the status of a run for the same problem")
  func troubles() throws {
    home.configure("segments: 3")
    let bad = try home.run("doctor")
    #expect(bad.status == 78 && bad.output.contains("configuration\twrong: "), "\(bad)")
    home.configure("segments: []")
    let nowhere = try home.run("doctor", "--json", "--cache-dir", home.path("prefetch.yaml/x"))
    #expect(nowhere.status == 74, "\(nowhere)")
    #expect(try nowhere.json().text("exit.name") == "io")
    #expect(try nowhere.json().list("findings").contains { $0.text("ok") == "false" })
  }

  @Test(
    "`doctor` and a run end with the same status in the same situation",
    arguments: ["nothing", "lock", "window", "disk", "license", "file", "hook", "published"]
  )
  func agrees(trouble: String) throws {
    let site = Site(["/a": Site.Page("body"), "/held": Site.Page("held")])
    let gate = Gate()
    let server = try LoopbackServer { request in
      let response = site.respond(to: request)
      return request.path == "/held" ? Script([.pause(gate)] + response.steps) : response
    }
    let segment = { (more: String) in
      "segments: [{ name: one, urls: [\"\(server.address("/a"))\"]\(more) }]"
    }
    var held: RunningProgram?
    switch trouble {
    case "nothing": break
    case "lock":
      home.configure("name: x\nsegments: [{ name: one, urls: [\"\(server.address("/held"))\"] }]")
      held = try home.start(["-q"])
      #expect(server.waitForRequest("/held"))
      home.configure("name: x\n" + segment(""))
    case "window":
      let name = NoonZone().name
      home.configure("network: { windows: [\"00:00-01:00\"], timezone: \(name) }\n" + segment(""))
    case "disk": home.configure("cache: { min_free: 1000000TB }\n" + segment(""))
    case "license":
      site["/license"] = Site.Page([], status: 403)
      home.configure(
        "license: k\nregistration: { url: \"\(server.address("/license"))\" }\n" + segment("")
      )
      #expect(try home.run("-q").status == 77)
    case "file":
      let path = home.path("prefetch.yaml/all.json")
      home.configure("report: { files: { json: \"\(path)\" } }\n" + segment(""))
    case "hook":
      home.configure(
        "hooks: { run.started: { run: [/nowhere/hook], required: true } }\n" + segment("")
      )
    default: home.configure(segment(", publish: { dir: \"\(home.path("prefetch.yaml/x"))\" }"))
    }
    let doctor = try home.run("doctor")
    let run = try home.run("-q")
    #expect(doctor.status == run.status, "\(doctor) \(run)")
    #expect((run.status == 0) == (trouble == "nothing"), "\(run)")
    #expect(doctor.output.contains("\twrong: ") == (trouble != "nothing"), "\(doctor)")
    gate.open()
    _ = held?.finish()
  }

  @Test("`doctor` names problems that no run fails for")
  func doubts() throws {
    home.configure("hooks: { run.finished: [/nowhere/hook] }\nsegments: []")
    let run = try home.run("doctor", "--json")
    #expect(run.status == 1, "\(run)")
    let hook = try run.json().list("findings").first { $0.text("name") == "hook" }
    #expect(hook?.text("ok") == "false" && hook?.text("value")?.contains("run.finished") == true)
    let nothing = try home.shell("rm prefetch.yaml; exec \"$prefetch\" doctor")
    #expect(nothing.status == 78 && nothing.output.contains("none found"), "\(nothing)")
  }

  @Test("`doctor` names the receivers of the license")
  func recipients() throws {
    home.configure(
      "license: key\nregistration: { url: \"https://license.example/v1\" }\nsegments: []"
    )
    #expect(
      findings(try home.run("doctor"))["sends"] == "the license to https://license.example/v1"
    )
  }

  @Test("`doctor` finds a timer that is not enabled, and does not start it")
  func timer() throws {
    home.configure("segments: []")
    let units = home.folder.appending("config/systemd/user")
    try #require(home.tool("mkdir", "-p", "\(units)/timers.target.wants").status == 0)
    FileTree.write(Array("[Timer]\n".utf8), to: "\(units)/prefetch-isos.timer")
    let idle = try home.run("doctor")
    #expect(idle.status == 1, "\(idle)")
    #expect(
      findings(idle)["schedule"]?.hasSuffix(
        "is not enabled; `systemctl --user enable --now prefetch-isos.timer` has it begin runs"
      ) == true,
      "\(idle)"
    )
    let link = try home.tool(
      "ln",
      "-s",
      "\(units)/prefetch-isos.timer",
      "\(units)/timers.target.wants/prefetch-isos.timer"
    )
    try #require(link.status == 0)
    #expect(try home.run("doctor").status == 0)
  }

  @Test(
    "`doctor` and `check` find a cache and a state of a newer version",
    arguments: ["index", "state"]
  )
  func newer(name: String) throws {
    let site = Site(["/a": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]"
    )
    #expect(try home.run("run").status == 0)
    #expect(try home.run("check").status == 0)
    let file = name == "index" ? "\(home.cache)/index.sqlite" : "\(home.state)/state.sqlite"
    let raised = try home.tool("sqlite3", file, "PRAGMA user_version = 4000")
    try #require(raised.status == 0, "\(raised)")
    for command in ["run", "check", "doctor"] {
      let run = try home.run(command)
      #expect(run.status == 74, "\(run)")
      #expect((run.errors + run.output).contains("newer"), "\(run)")
    }
  }

  @Test("`doctor` inspects a mirror by its cache, without a configuration")
  func mirror() throws {
    let site = Site(["/a": Site.Page("body")])
    let server = try LoopbackServer { site.respond(to: $0) }
    home.write(server.address("/a") + "\n", to: "list")
    let allowed = ["--set", "allow_http=127.0.0.1"]
    let run = try home.start(["mirror", "list", "dir"] + allowed).finish()
    try #require(run.status == 0, "\(run)")
    let doctor = try home.run("doctor", "--cache-dir", "dir/.prefetch")
    #expect(doctor.status == 0, "\(doctor)")
    #expect(findings(doctor)["configuration"] == "none, and a mirror needs none", "\(doctor)")
    #expect(findings(doctor)["state"]?.contains("dir/.prefetch") == true, "\(doctor)")
  }

  @Test("`doctor` reports a mirror's last run, its lost files and its lost folder")
  func mirrorTroubles() throws {
    let site = Site(["/a": Site.Page("body"), "/b": Site.Page("body of b")])
    let server = try LoopbackServer { site.respond(to: $0) }
    home.write(["/a", "/b"].map { server.address($0) + "\n" }.joined(), to: "list")
    let words = ["list", "dir", "--set", "allow_http=127.0.0.1", "--set", "cache.min_free=0"]
    let doctor = { try home.run("doctor", "--cache-dir", "dir/.prefetch") }
    try #require(home.run(["mirror"] + words).status == 0)
    let well = try doctor()
    #expect(well.status == 0, "\(well)")
    #expect(findings(well)["mirror"]?.hasPrefix("its last run ended ") == true, "\(well)")
    #expect(findings(well)["mirror"]?.hasSuffix("with 0 (`ok`)") == true, "\(well)")
    site["/b"] = nil
    try #require(home.run(["mirror"] + words).status == 3)
    let failed = try doctor()
    #expect(failed.status == 3, "\(failed)")
    let text = try #require(findings(failed)["mirror"])
    #expect(text.hasPrefix("wrong: its last run ended "), "\(text)")
    #expect(text.contains("with 3 (`incomplete`): "), "\(text)")
    site["/b"] = Site.Page("body of b")
    try #require(home.run(["mirror"] + words).status == 0)
    FileTree.remove(home.path("dir/a"))
    let missing = try doctor()
    #expect(missing.status == 1 && missing.output.contains("1 missing"), "\(missing)")
    FileTree.remove(home.path("dir/b"))
    let emptied = try doctor()
    #expect(emptied.status == 74, "\(emptied)")
    #expect(emptied.output.contains("lost all published files (2)"), "\(emptied)")
    try #require(home.tool("mv", home.path("dir"), home.path("unmounted")).status == 0)
    home.configure("segments: []")
    let gone = try doctor()
    #expect(gone.status == 74, "\(gone)")
    #expect(findings(gone)["configuration"] == "none, and a mirror needs none", "\(gone)")
    let wrong = try #require(findings(gone)["mirror"])
    #expect(wrong.contains("dir/.prefetch` is missing; mount the disk"), "\(wrong)")
    #expect(!FileTree.exists(home.path("dir")))
  }
}
