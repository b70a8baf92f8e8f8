import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Schedules", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ScheduleTests {
  private let home: Home
  private let site = Site()
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { [site] in site.respond(to: $0) }
    site["/a"] = Site.Page("body")
    FileTree.makeFolder(home.path("srv"))
    FileTree.makeFolder(home.path("srv/flat"))
    FileTree.makeFolder(home.path("srv/whole"))
    for folder in ["reports", "told", "log"] { FileTree.makeFolder(home.path(folder)) }
    home.configure(
      """
      name: Night shift 100%
      cache: { min_free: 0 }
      report: { files: { json: "\(home.path("reports/last.json"))" } }
      hooks: { run.finished: [tee, -a, "\(home.path("told/events"))"] }
      segments:
        - name: flat
          urls: ["\(server.address("/a"))"]
          headers: { X-Key: "${credential:key}" }
          publish: { dir: "\(home.path("srv/flat"))" }
        - name: whole
          urls: ["\(server.address("/a"))"]
          publish: { dir: "\(home.path("srv/whole/tree"))", atomic: true }
      """
    )
  }

  private func units() throws -> (service: String, timer: String) {
    FileTree.makeFolder(home.path("units"))
    let run = try home.run(
      "schedule",
      "systemd",
      "--output-dir",
      home.path("units"),
      "--log-file",
      home.path("log/prefetch.log")
    )
    #expect(run.status == 0, "\(run)")
    let names = ["service", "timer"].map { "prefetch-night-shift-100-.\($0)" }
    #expect(FileTree.names(home.path("units")).sorted() == names)
    return (home.read("units/\(names[0])") ?? "", home.read("units/\(names[1])") ?? "")
  }

  @Test("The unit of a pulling server has `--pull`")
  func pullingServer() throws {
    let unit = try home.run("schedule", "systemd", "--serve", "--pull")
    #expect(unit.output.contains("/prefetch serve --pull "), "\(unit)")
    #expect(try home.run("schedule", "systemd", "--pull").status == 64)
  }

  @Test(
    "A unit with paths below `/tmp` uses the machine's `/tmp`, or a warning says that it cannot"
  )
  func temporaryPaths() throws {
    let text = "segments: [{name: a, urls: [\"https://example.com/a\"], publish: {dir: /tmp/tree}}]"
    home.write(text, to: "tmp.yaml")
    let fleeting = try home.run("schedule", "systemd", "-c", "tmp.yaml")
    #expect(fleeting.errors.contains("schedule.private-tmp"), "\(fleeting)")
    let lasting = try home.run("schedule", "systemd", "-c", "tmp.yaml", "--user", "nobody")
    #expect(lasting.output.contains("PrivateTmp=no"), "\(lasting)")
    #expect(!lasting.errors.contains("schedule.private-tmp"), "\(lasting)")
  }

  @Test(
    "systemd accepts the units and rates their exposure low",
    .enabled(if: Tool.isInstalled("systemd-analyze"), "needs systemd-analyze")
  )
  func systemd() throws {
    let (service, timer) = try units()
    let verified = try home.shell("systemd-analyze verify units/*.service units/*.timer 2>&1")
    #expect(verified.status == 0 && verified.output.isEmpty, "\(verified)")
    let judged = try home.shell(
      "systemd-analyze security --offline=true --threshold=30 units/*.service"
    )
    #expect(judged.status == 0, "\(judged)")
    #expect(service.contains("LoadCredential=key:/etc/prefetch-night-shift-100-/credentials/key"))
    #expect(service.contains("SuccessExitStatus=75 143\n") && service.contains("DynamicUser=yes"))
    #expect(timer.contains("RandomizedDelaySec=") && timer.contains("Persistent=true"))
    let printed = try home.run("schedule", "systemd", "--at", "hourly")
    #expect(printed.output.contains("OnCalendar=hourly"))
    #expect(try home.run("schedule", "cron", "--output-dir", "x").status == 64)
  }

  @Test(
    "A run writes only to the paths of its unit",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)")
  )
  func paths() throws {
    let service = try units().service
    let written = service.split(separator: "\n").compactMap { line in
      line.hasPrefix("ReadWritePaths=") ? String(line.dropFirst("ReadWritePaths=".count)) : nil
    }
    #expect(
      written == ["log", "reports", "srv/flat", "srv/whole", "told"].map { home.path($0) },
      "nothing more than it needs"
    )
    let command = try #require(
      service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }
    )
    .dropFirst("ExecStart=".count)
    FileTree.makeFolder(home.path("made"))
    FileTree.makeFolder(home.path("credentials"))
    home.write("secret", to: "credentials/key")
    let calls =
      "openat,openat2,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,"
      + "symlink,symlinkat,unlink,unlinkat,rmdir,truncate,chmod,fchmodat"
    let run = try home.shell(
      """
      CREDENTIALS_DIRECTORY=$PWD/credentials CACHE_DIRECTORY=$PWD/made/cache \
      STATE_DIRECTORY=$PWD/made/state strace -f -y -qq -s 4096 -e trace=\(calls) -o trace \
      \(command)
      """
    )
    #expect(run.status == 0, "\(run)")
    #expect(FileTree.names(home.path("srv/whole")).contains("tree"))
    let allowed = written + [home.path("made"), "/dev/null", "/dev/shm"]
    var count = 0
    var used: Set<String> = []
    for line in (home.read("trace") ?? "").split(separator: "\n") {
      let writes =
        !line.contains("open") || ["O_WRONLY", "O_RDWR", "O_CREAT"].contains { line.contains($0) }
      guard writes, !line.contains("= -1 "), let path = Self.path(in: line) else { continue }
      count += 1
      used.formUnion(written.filter { path == $0 || path.hasPrefix($0 + "/") })
      #expect(allowed.contains { path == $0 || path.hasPrefix($0 + "/") }, "\(line)")
    }
    #expect(count > 10)
    #expect(used.sorted() == written, "and everything of it is needed")
  }

  /// Returns the path of the first file in a traced call.
  private static func path(in line: Substring) -> String? {
    guard let name = line.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
    else { return nil }
    if name.hasPrefix("/") { return String(name) }
    guard let open = line.firstIndex(of: "<"),
      let close = line[open...].firstIndex(of: ">")
    else { return nil }
    return "\(line[line.index(after: open)..<close])/\(name)"
  }

  @Test("A server's unit has the user and the folders of the runs' unit")
  func serverUnit() throws {
    let service = try units().service
    let run = try home.run("schedule", "systemd", "--serve", "--output-dir", home.path("units"))
    #expect(run.status == 0 && run.errors.contains("prefetch-night-shift-100--serve.service"))
    let server = try #require(home.read("units/prefetch-night-shift-100--serve.service"))
    for key in ["User=", "DynamicUser=", "CacheDirectory=", "StateDirectory=", "UMask="] {
      let lines = [service, server].map { text in
        text.split(separator: "\n").filter { $0.hasPrefix(key) }
      }
      #expect(lines[0].count == 1 && lines[0] == lines[1], "\(key)")
    }
    #expect(server.contains("\nSuccessExitStatus=143\n"))
    #expect(server.contains("WantedBy=multi-user.target"))
    if Tool.isInstalled("systemd-analyze") {
      let verified = try home.shell("systemd-analyze verify units/*-serve.service 2>&1")
      #expect(verified.status == 0 && verified.output.isEmpty, "\(verified)")
    }
    // The schedule's server command works unchanged.
    let line = try #require(server.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    FileTree.makeFolder(home.path("credentials"))
    home.write("secret", to: "credentials/key")
    let served = try home.shell(
      """
      CREDENTIALS_DIRECTORY=$PWD/credentials CACHE_DIRECTORY=$PWD/made/cache \
      STATE_DIRECTORY=$PWD/made/state timeout 5 \
      \(line.dropFirst("ExecStart=".count)) --listen 127.0.0.1:0 --for 10ms
      """
    )
    #expect(served.status == 0 && served.output.hasPrefix("http://127.0.0.1:"), "\(served)")
    for words in [["cron", "--serve"], ["systemd", "--serve", "--at", "hourly"]] {
      #expect(try home.run(["schedule"] + words).status == 64)
    }
  }

  @Test("The line for cron runs with an empty environment")
  func cron() throws {
    home.configure(
      "segments: [{ name: one, urls: [\"\(server.address("/a"))\"] }]\ncache: { min_free: 0 }"
    )
    let line = try #require(try home.run("schedule", "cron").lines.first.map(String.init))
    let words = line.split(separator: " ", maxSplits: 5)
    #expect(words.count == 6 && Int(words[0]).map { (0..<60).contains($0) } == true, "\(line)")
    let command = words[5].split(separator: "\\%", omittingEmptySubsequences: false)
      .joined(separator: "%")
    home.write(command, to: "line")
    let run = try home.shell("cd / && exec env -i sh \(home.path("line"))")
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run)")
    #expect(server.requests.count == 1)
    #expect(try home.run("path", server.address("/a")).status == 0, "it went to one's own cache")
  }

  @Test("Times that the scheduler does not accept are refused, and others are printed unchanged")
  func times() throws {
    home.write("segments: [{ name: s, urls: [\"https://a.example/x\"] }]\n")
    let accepted = [
      ("cron", "23 3 * * *"), ("cron", "*/15 0-6,22 1,15 jan-mar mon"), ("cron", "@daily"),
      ("systemd", "daily"), ("systemd", "Mon..Fri *-*-* 03:00:00"), ("systemd", "03:00 UTC"),
      ("systemd", "*-*-1..7 18:30 Europe/Berlin"),
    ]
    for (scheduler, time) in accepted {
      let run = try home.run("schedule", scheduler, "--at", time)
      #expect(run.status == 0 && run.output.contains(time), "\(run)")
    }
    let refused = [
      ("cron", "61 3 * * *"), ("cron", "daily"), ("cron", "3 * * *"), ("cron", "5-1 * * * *"),
      ("cron", "* * * foo *"), ("cron", "*/0 * * * *"), ("systemd", "nonsense"),
      ("systemd", "23 3 * * *"), ("systemd", ""), ("systemd", "25:00"), ("systemd", "3:60"),
    ]
    for (scheduler, time) in refused {
      let run = try home.run("schedule", scheduler, "--at", time)
      #expect(run.status == 64 && run.output.isEmpty, "\(run)")
    }
    let hint = try home.run("schedule", "cron", "--at", "daily")
    #expect(hint.errors.contains("cron writes `@daily`"))
  }

  @Test("A configuration that the user of the runs cannot read is a warning of `schedule`")
  func unreadable() throws {
    FileTree.makeFolder(home.path("closed"))
    for name in ["prefetch.yaml", "closed/prefetch.yaml"] {
      home.configure("segments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]", to: name)
    }
    func warnings(_ words: String...) throws -> String {
      let run = try home.run(["schedule"] + words)
      #expect(run.status == 0, "\(run)")
      return run.errors.split(separator: "\n").filter { $0.contains("[schedule.unreadable]") }
        .joined()
    }
    _ = try home.tool("chmod", "755", home.folder.path)
    let path = home.path("closed/prefetch.yaml")
    let user = ["--user", "daemon"]
    #expect(try warnings("systemd", "-c", path, "--user", "daemon") == "")
    try #require(home.tool("chmod", "700", home.path("closed")).status == 0)
    for words in [["systemd"] + user, ["cron"] + user, ["systemd", "--user", "not-made-yet"]] {
      let run = try home.run(["schedule"] + words + ["-c", path])
      let text = " cannot read `\(path)`: `\(home.path("closed"))` is closed to it"
      #expect(run.errors.contains(text), "\(run)")
    }
    #expect(try warnings("cron", "-c", path) == "", "it is the user's own crontab")
    try #require(home.tool("chmod", "640", home.path("prefetch.yaml")).status == 0)
    #expect(try warnings("systemd").contains("the user of the service cannot read"))
    try #require(home.tool("chgrp", "daemon", home.path("prefetch.yaml")).status == 0)
    #expect(try warnings("systemd", "--user", "daemon") == "")
  }

  @Test("The unit of a shared cache leaves the folder open for readers")
  func sharedCache() throws {
    home.configure(
      "cache: { shared: true }\nsegments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]"
    )
    let unit = try home.run("schedule", "systemd")
    #expect(unit.output.contains("CacheDirectoryMode=0755\nStateDirectory="), "\(unit)")
    #expect(unit.output.contains("StateDirectoryMode=0700"), "\(unit)")
    #expect(unit.errors.contains("[schedule.private-cache]"), "\(unit)")
    let owned = try home.run("schedule", "systemd", "--user", "daemon")
    #expect(!owned.errors.contains("[schedule.private-cache]"), "\(owned)")
  }

  @Test("A permanent user owns the units, and folders to create are reported")
  func user() throws {
    home.configure(
      """
      name: isos
      network: { netrc: true }
      segments:
        - name: s
          urls: ["\(server.address("/a"))"]
          publish: { dir: "\(home.path("srv/new tree"))" }
      """
    )
    let lent = try home.run("schedule", "systemd")
    #expect(lent.output.contains("DynamicUser=yes\nUser=prefetch-isos\n"))
    #expect(lent.errors.contains("the user of the service has no home"), "\(lent)")
    #expect(lent.output.contains("ReadWritePaths=\"\(home.path("srv/new tree"))\""))
    #expect(lent.errors.contains("as root: install -d '\(home.path("srv/new tree"))'"), "\(lent)")
    let owned = try home.run("schedule", "systemd", "--user", "mirror")
    #expect(owned.status == 0)
    #expect(owned.output.contains("\nUser=mirror\n") && !owned.output.contains("DynamicUser"))
    #expect(owned.output.contains("ReadWritePaths=\"\(home.path("srv/new tree"))\""))
    #expect(owned.output.contains("ProtectHome=read-only"))
    #expect(owned.errors.contains("as root: useradd --system --user-group"), "\(owned)")
    let made = "as root: install -d -m 0755 -o mirror '\(home.path("srv/new tree"))'"
    #expect(owned.errors.contains(made), "\(owned)")
    #expect(owned.errors.contains("`network.netrc` reads `~/.netrc` of `mirror`"))
    let here = try home.run("schedule", "systemd", "--user", "daemon")
    #expect(!here.errors.contains("useradd"), "\(here)")
    let cron = try home.run("schedule", "cron", "--at", "@daily", "--user", "mirror")
    #expect(cron.output.hasPrefix("@daily mirror /"), "\(cron)")
    #expect(
      cron.output.contains(
        "--cache-dir /var/cache/prefetch-isos --state-dir /var/lib/prefetch-isos"
      )
    )
    #expect(cron.errors.contains("install -d -m 0700 -o mirror /var/cache/prefetch-isos"))
    for name in ["", "Root", "a b", "x;y", "1x"] {
      #expect(try home.run("schedule", "cron", "--user", name).status == 64, "\(name)")
    }
  }
}
