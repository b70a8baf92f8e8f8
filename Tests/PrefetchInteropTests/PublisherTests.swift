@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("The publisher's side", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PublisherTests {
  private let home: Home
  private let base = "https://cdn.example.org/app"

  init() throws {
    home = try Home()
    FileTree.makeFolder(home.path("site"))
    FileTree.makeFolder(home.path("site/img"))
    for (name, text) in [("b.txt", "two"), ("a.txt", "one"), ("img/c d.png", "png"), (".env", "x")]
    {
      write(text, to: name)
    }
  }

  private func write(_ text: String, to name: String, at second: Int = 1_700_000_000) {
    let path = home.write(text, to: "site/\(name)")
    let times = [timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0)]
    unsafe utimensat(AT_FDCWD, path, times, 0)
  }

  private func build(_ arguments: String...) throws -> ProgramRun {
    try home.start(
      ["manifest", "build", "site", "--base-url", base, "--generated", "1800000000"] + arguments
    ).finish()
  }

  @Test("A folder becomes the same manifest each time, ordered by the bytes of its paths")
  func builds() throws {
    let run = try build("--expires", "1d", "--segment", "app", "--priority", "2")
    #expect(run.status == 0, "\(run)")
    #expect(run.errors == "")
    let digest: (String) -> String = { Digest.hexadecimal($0) }
    #expect(
      run.output == """
        {
          "format": "prefetch-manifest",
          "version": 1,
          "generated": "2027-01-15T08:00:00.000Z",
          "expires": "2027-01-16T08:00:00.000Z",
          "segment": "app",
          "priority": 2,
          "base": "https://cdn.example.org/app/",
          "items": [
            {"url":"a.txt","path":"a.txt","size":3,"mtime":"2023-11-14T22:13:20.000Z","digests":{"sha256":"\(digest("one"))"}},
            {"url":"b.txt","path":"b.txt","size":3,"mtime":"2023-11-14T22:13:20.000Z","digests":{"sha256":"\(digest("two"))"}},
            {"url":"img/c%20d.png","path":"img/c d.png","type":"image","size":3,"mtime":"2023-11-14T22:13:20.000Z","digests":{"sha256":"\(digest("png"))"}}
          ]
        }

        """
    )
    #expect(
      try build("--expires", "1d", "--segment", "app", "--priority", "2").output == run.output
    )
    var fixed = home
    fixed.variables["SOURCE_DATE_EPOCH"] = "1800000000"
    let epoch = try fixed.run("manifest", "build", "site", "--base-url", base, "--ndjson")
    #expect(epoch.lines.count == 4)
    #expect(epoch.output == (try build("--ndjson").output))
    fixed.variables["SOURCE_DATE_EPOCH"] = "soon"
    #expect(try fixed.run("manifest", "build", "site", "--base-url", base).status == 64)
  }

  @Test("A manifest inside the folder names neither itself nor its signature")
  func selfReference() throws {
    write("old", to: "manifest.json")
    write("old", to: "manifest.json.minisig")
    let inside = try build("-o", "site/manifest.json")
    #expect(inside.status == 0, "\(inside)")
    let text = try #require(home.read("site/manifest.json"))
    #expect(!text.contains("manifest.json"))
    #expect(text.contains("\"a.txt\""))
    FileTree.remove(home.path("site/manifest.json"))
    FileTree.remove(home.path("site/manifest.json.minisig"))
    let redirected = try home.shell(
      "$prefetch manifest build site --base-url \(base) >site/list.json"
    )
    #expect(redirected.status == 0, "\(redirected)")
    #expect(home.read("site/list.json")?.contains("list.json") == false)
  }

  @Test("A built site that is published again is the same tree")
  func sites() throws {
    let site = Site()
    let server = try LoopbackServer { site.respond(to: $0) }
    // Two hosts, folders, an index page, a query, and a playlist that stays a plain file.
    let names = [
      "127.0.0.1/index.html", "127.0.0.1/docs/index.html", "127.0.0.1/docs/a b.txt",
      "localhost/list?page=2", "localhost/film.m3u8", "top.txt",
    ]
    #expect(try home.tool("rm", "-rf", home.path("site")).status == 0)
    for name in names {
      let text = name.hasSuffix("m3u8") ? StreamGround.media(["#EXTINF:2,\nx.ts"]) : "of \(name)"
      FileTree.makeFolder(home.path("site"))
      let folder = name.split(separator: "/").dropLast().joined(separator: "/")
      #expect(try home.tool("mkdir", "-p", home.path("site/\(folder)")).status == 0)
      write(text, to: name)
      let path = name.replacing("?", with: "%3F").replacing(" ", with: "%20")
      site["/site/\(path)"] = Site.Page(text)
    }
    // A mirror's private files are not listed.
    #expect(try home.tool("mkdir", "-p", home.path("site/.prefetch")).status == 0)
    write("state", to: ".prefetch/state")
    let built = try home.run(
      "manifest",
      "build",
      "site",
      "--base-url",
      server.address("/site/"),
      "--hidden",
      "-o",
      "list.json"
    )
    #expect(built.status == 0 && built.errors.isEmpty, "\(built)")
    home.configure(
      """
      cache: { min_free: 0 }
      segments: [{ name: s, manifest: ./list.json, publish: { dir: again, layout: url } }]
      """
    )
    let run = try home.run("-q")
    #expect(run.status == 0, "\(run)")
    let difference = try home.shell("rm -rf site/.prefetch; diff -r site again")
    #expect(difference.status == 0, "\(difference)")
    let second = try home.run(
      "manifest",
      "build",
      "again",
      "--base-url",
      server.address("/site/"),
      "--ndjson",
      "--generated",
      "1800000000"
    )
    let paths = try second.lines.dropFirst().compactMap { try Node(json: String($0)).text("path") }
    #expect(paths.sorted() == names.sorted())
  }

  @Test("Patterns select files, hidden ones need an option, and types are stated on request")
  func choosing() throws {
    let paths = { (run: ProgramRun) in
      try Node(json: run.output).list("items").compactMap { $0.text("url") }
    }
    #expect(try paths(try build("--include", "*.txt")) == ["a.txt", "b.txt"])
    #expect(try paths(try build("--exclude", "img")) == ["a.txt", "b.txt"])
    #expect(
      try paths(try build("--exclude", "img/*", "--include", "*a*")) == ["a.txt"]
    )
    #expect(try paths(try build("--hidden")).first == ".env")
    let typed = try Node(json: try build("--mime").output)
    #expect(typed.text("items.2.mime") == "image/png")
  }

  @Test("Files that are not published are reported, and links out of the folder are not followed")
  func leftOut() throws {
    for (name, target) in [
      ("in.txt", "a.txt"), ("out", "/etc/passwd"), ("gone", "nowhere"), ("folder", "img"),
    ] {
      unsafe symlink(target, home.path("site/\(name)"))
    }
    unsafe mkfifo(home.path("site/pipe"), 0o600)
    let run = try build("--ndjson")
    #expect(run.status == 0, "\(run)")
    #expect(run.lines.count == 5)
    #expect(run.output.contains("\"in.txt\""))
    for name in ["out", "gone", "folder", "pipe"] {
      #expect(run.errors.contains("`\(name)` is"), "\(run)")
      #expect(!run.output.contains("\"\(name)\""))
    }
  }

  @Test("Unreadable names and files are reported, and nothing is written")
  func refused() throws {
    let bytes: [CChar] = Array("\(home.path("site"))/bad".utf8CString.dropLast()) + [-1, 0]
    let number = unsafe open(bytes, O_CREAT | O_WRONLY, 0o644)
    close(number)
    home.write("before", to: "manifest.json")
    let run = try build("-o", "manifest.json")
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("`bad%FF` has a name that is not UTF-8"))
    #expect(home.read("manifest.json") == "before")
    #expect(try home.run("manifest", "build", "none", "--base-url", base).status == 74)
    #expect(try home.run("manifest", "build", "site").status == 64)
    #expect(try home.run("manifest", "build", "site", "--base-url", "ftp://x/").status == 64)
    #expect(try home.run("manifest").status == 64)
    #expect(try home.run("manifest", "make").status == 64)
    let json = try home.run("manifest", "build", "site", "--base-url", base, "--json")
    #expect(json.status == 64)
    #expect(try json.json().text("schema") == "prefetch-error/1")
  }

  @Test("An empty folder becomes a manifest without items, with a warning")
  func empty() throws {
    FileTree.makeFolder(home.path("nothing"))
    let run = try home.run("manifest", "build", "nothing", "--base-url", base)
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("no items"))
    #expect(try Node(json: run.output).list("items").isEmpty)
  }

  @Test("Unchanged files are not read again")
  func incremental() throws {
    #expect(try build("-o", "old.json").status == 0)
    write("neu", to: "b.txt", at: 1_700_000_001)
    // Size and time are unchanged, so that only reading the file could show the change.
    write("ONE", to: "a.txt")
    let run = try build("--previous", "old.json")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains(Digest.hexadecimal("one")))
    #expect(run.output.contains(Digest.hexadecimal("neu")))
    #expect(try build("--previous", "none.json").output.contains(Digest.hexadecimal("ONE")))
    home.write("{}", to: "broken.json")
    let broken = try build("--previous", "broken.json")
    #expect(broken.status == 0)
    #expect(broken.errors.contains("is not an earlier manifest"))
  }

  @Test("`manifest check` reports errors with their position")
  func checks() throws {
    #expect(try build("-o", "good.json").status == 0)
    let good = try home.run("manifest", "check", "good.json")
    #expect(good.status == 0, "\(good)")
    #expect(good.errors == "")
    #expect(
      good.output.hasPrefix(
        "format:    a prefetch manifest (`format: native`)\nitems:     3\nbytes:     9\n"
      )
    )
    let list = try home.run("manifest", "check", "-", input: "https://example.org/a\nftp://x/\n")
    #expect(list.output.hasPrefix("format:    a list of URLs (`format: list`)\n"), "\(list)")
    home.write(
      """
      {"format":"prefetch-manifest","version":1,"items":[
        {"url":"https://example.org/a"},
        {"url":"https://example.org/b","size":"big"}
      ]}
      """,
      to: "bad.json"
    )
    let bad = try home.run("manifest", "check", "bad.json")
    #expect(bad.status == 78, "\(bad)")
    #expect(bad.errors.contains("line 3, column 41: `size` must be a number of bytes"))
    #expect(try home.run("manifest", "check", "-", input: "{").status == 78)
    #expect(try home.run("manifest", "check", "none.json").status == 74)
  }

  @Test(
    "minisign verifies our signatures, and our `manifest check` verifies those of minisign",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func signatures() throws {
    #expect(try home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "sec").status == 0)
    #expect(try home.tool("minisign", "-G", "-W", "-p", "pub2", "-s", "sec2").status == 0)
    #expect(try build("--expires", "9d", "-o", "m.json").status == 0)
    let unsigned = try home.run("manifest", "check", "m.json", "--key", "pub")
    #expect(unsigned.status == 5, "\(unsigned)")
    let sign = try home.run("manifest", "sign", "m.json", "--key", "sec", "--comment", "ours")
    #expect(sign.status == 0, "\(sign)")
    #expect(home.read("m.json.minisig")?.hasPrefix("untrusted comment: ours\n") == true)
    let theirs = try home.tool("minisign", "-V", "-H", "-p", "pub", "-m", "m.json")
    #expect(theirs.status == 0, "\(theirs)")
    #expect(theirs.output.contains("file:m.json\thashed"))
    for key in ["pub", home.read("pub")?.split(separator: "\n").last.map(String.init) ?? ""] {
      let check = try home.run("manifest", "check", "m.json", "--key", key)
      #expect(check.status == 0, "\(check)")
      #expect(check.output.contains("signature: good"))
    }
    #expect(try home.run("manifest", "check", "m.json", "--key", "pub2").status == 5)
    for flags in [["-S"], ["-S", "-l"]] {
      let arguments = flags + ["-s", "sec", "-m", "m.json", "-t", "by hand"]
      let minisign = try #require(Tool("minisign"))
      let signed = try RunningProgram(
        minisign.path,
        arguments,
        environment: home.variables,
        folder: home.work
      ).finish()
      #expect(signed.status == 0, "\(signed)")
      let check = try home.run("manifest", "check", "m.json", "--key", "pub")
      #expect(check.status == 0, "\(check)")
      #expect(check.output.contains("signature: good (by hand)"))
    }
    home.write((home.read("m.json") ?? "") + " ", to: "m.json")
    #expect(try home.run("manifest", "check", "m.json", "--key", "pub").status == 5)
    #expect(try home.tool("minisign", "-V", "-p", "pub", "-m", "m.json").status != 0)
  }

  @Test("`manifest sign` warns about a missing expiry and refuses a wrong key")
  func signing() throws {
    guard Tool.isInstalled("minisign") else { return }
    #expect(try home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "sec").status == 0)
    #expect(try build("-o", "m.json").status == 0)
    let lasting = try home.run("manifest", "sign", "m.json", "--key", "sec")
    #expect(lasting.status == 0, "\(lasting)")
    #expect(lasting.errors.contains("says when it expires"))
    let expiring = try home.run("manifest", "sign", "m.json", "--key", "sec", "--expires", "2d")
    #expect(expiring.errors == "", "\(expiring)")
    #expect(home.read("m.json.minisig")?.contains("\texpires:") == true)
    #expect(try home.run("manifest", "sign", "m.json", "--key", "pub").status == 1)
    #expect(try home.run("manifest", "sign", "m.json", "--key", "none").status == 74)
    #expect(try home.run("manifest", "sign", "m.json").status == 64)
    home.write("{", to: "broken.json")
    #expect(try home.run("manifest", "sign", "broken.json", "--key", "sec").status == 78)
    #expect(!FileTree.exists(home.path("broken.json.minisig")))
  }

  @Test(
    "A password is read from the terminal without echo and can be refused",
    .enabled(if: Tool.isInstalled("minisign") && Tool.isInstalled("python3"), "needs minisign")
  )
  func password() throws {
    #expect(try build("--expires", "9d", "-o", "m.json").status == 0)
    // The script types each answer on a terminal of its own and prints the terminal's output.
    home.write(
      """
      import os, pty, select, sys
      answers, command = sys.argv[1].split(","), sys.argv[2:]
      child, terminal = pty.fork()
      if child == 0: os.execvp(command[0], command)
      seen, asked = b"", 0
      while True:
          # Some ask before they are ready, and drop what comes then: an answer without effect is repeated.
          if select.select([terminal], [], [], 0.5)[0]:
              try: piece = os.read(terminal, 4096)
              except OSError: break
              if not piece: break
              seen += piece
          if b"assword" in seen and seen.rstrip(b" ").endswith(b":"):
              if len(seen) != asked: asked, answer = len(seen), answers.pop(0)
              os.write(terminal, b"\\x03" if answer == "stop" else answer.encode() + b"\\n")
      sys.stdout.buffer.write(seen)
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
      """,
      to: "terminal.py"
    )
    let python = try #require(Tool("python3")).path
    let typing = { (typed: String, command: [String]) in
      try RunningProgram(
        python,
        ["terminal.py", typed] + command,
        environment: home.variables,
        folder: home.work
      ).finish()
    }
    let minisign = try #require(Tool("minisign")).path
    let prefetch = try #require(Binary.path)
    let generate = [minisign, "-G", "-p", "pub", "-s", "sec"]
    #expect(try typing("opensesame,opensesame", generate).status == 0)
    let sign = { (typed: String) in
      try typing(typed, [prefetch, "manifest", "sign", "m.json", "--key", "sec"])
    }
    let wrong = try sign("sesame")
    #expect(wrong.status == 1, "\(wrong)")
    #expect(wrong.output.contains("the password is not this key's"))
    let stopped = try sign("stop")
    #expect(stopped.status == 130, "\(stopped)")
    #expect(!FileTree.exists(home.path("m.json.minisig")))
    let signed = try sign("opensesame")
    #expect(signed.status == 0, "\(signed)")
    #expect(signed.output.contains("Password of `sec`"))
    #expect(!signed.output.contains("opensesame"))
    #expect(try home.run("manifest", "check", "m.json", "--key", "pub").status == 0)
  }

  @Test("A signature for standard input is a usage error")
  func standardInput() throws {
    let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    let check = try home.run("manifest", "check", "-", "--key", key, input: "{}")
    #expect(check.status == 64, "\(check)")
    #expect(try home.run("manifest", "sign", "-", "--key", "sec").status == 64)
  }

  @Test("Unknown keys are named with their position and a suggestion")
  func unknownKeys() throws {
    let items = #"{"url": "https://example.org/a", "etags": "x", "x-mine": [1]}"#
    let more =
      #"{"url": "https://example.org/b", "etags": {"url": 1}, "network": {"allow": "any", "powr": "ac"}}"#
    let head =
      #"{"format": "prefetch-manifest", "version": 1.2, "generatd": "2026-11-20T05:00:00Z", "$schema": "s""#
    let whole = "\(head),\n \"items\": [\(items),\n  \(more)]}"
    let lines = "\(head)}\n\(items)\n\(more)\n"
    for (text, locations) in [
      (whole, ["1:49", "2:45", "3:85"]), (lines, ["1:49", "2:34", "3:83"]),
    ] {
      home.write(text, to: "m.json")
      let check = try home.run("manifest", "check", "m.json")
      #expect(check.status == 0 && check.output.contains("items:     2\n"), "\(check)")
      let warnings = check.errors.split(separator: "\n").filter { $0.contains(" warning: ") }
      #expect(
        warnings.map(String.init) == [
          "m.json:\(locations[0]): warning: unknown key `generatd` in the manifest, which is ignored  [manifest.unknown-key]",
          "m.json:\(locations[1]): warning: unknown key `etags` in an item, and 1 more of it, which is ignored  [manifest.unknown-key]",
          "m.json:\(locations[2]): warning: unknown key `powr` in `network`, which is ignored  [manifest.unknown-key]",
        ],
        "\(check)"
      )
      #expect(check.errors.contains("hint: did you mean `generated`?"), "\(check)")
    }
    home.write(#"{"format": "prefetch-manifest", "version": 2.0, "items": []}"#, to: "m.json")
    #expect(try home.run("manifest", "check", "m.json").status == 78)
  }

  @Test("A manifest on a server is fetched under the policy and not stored")
  func checksURL() throws {
    let site = Site(["/m.json": Site.Page(Manifest.text(["https://example.org/a"]))])
    let server = try LoopbackServer { site.respond(to: $0) }
    let url = server.address("/m.json")
    let refused = try home.run("manifest", "check", url)
    #expect(refused.status == 5, "\(refused)")
    let local = "transport_security.NSAllowsLocalNetworking=true"
    let run = try home.run("manifest", "check", url, "--set", local)
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("items:     1"))
    #expect(try home.run("path", url).status == 4)
    #expect(try home.run("manifest", "check", server.address("/no"), "--set", local).status == 4)
  }

  @Test(
    "The example of a publisher runs",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign")
  )
  func example() throws {
    let root = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
    let run = try home.shell("bash '/\(root)/examples/publisher/run' \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    #expect(run.output.hasSuffix("signed, verified, and refused once it was changed\n"))
  }
}
