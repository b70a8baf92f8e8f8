@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A mirror, night after night", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MirrorNightTests {
  private let ground: MirrorGround
  private let list: String

  init() throws {
    ground = try MirrorGround()
    list = ground.server.address("/pub/SHA256SUMS")
  }

  @Test("A mirror's first night fetches all files, and the second requests the list only")
  func twoNights() throws {
    ground.publish(files: ["a.txt": "one", "sub/b.txt": "two", "sub/deep/c.txt": "three"])
    let first = try ground.mirror(list, "./dir//")
    #expect(first.status == 0, "\(first)")
    #expect(
      ground.files() == ["a.txt": "one", "sub/b.txt": "two", "sub/deep/c.txt": "three"]
    )
    #expect(ground.requests.count == 4)
    let file = try ground.status("sub/b.txt")
    #expect(file.st_mode & 0o7777 == 0o644)
    #expect(file.st_mtim.tv_sec == MirrorGround.mondaySeconds)
    #expect(try ground.status(".prefetch").st_mode & 0o7777 == 0o700)
    let before = ground.facts()
    let second = try ground.mirror(list, "dir")
    #expect(second.status == 0, "\(second)")
    #expect(ground.requests == ["/pub/SHA256SUMS"])
    #expect(ground.facts() == before)
    #expect(second.errors.isEmpty, "\(second)")
  }

  @Test("A list that changed within its second is received again once, and then confirmed")
  func rewrittenList() throws {
    let (sent, dayLater) = ("Mon, 02 Mar 2020 10:00:30 GMT", "Tue, 03 Mar 2020 10:00:30 GMT")
    func publish(_ name: String, sent: String, tag: String? = nil) {
      ground.site["/list"] = Site.Page(
        Array("\(ground.server.address("/\(name)"))\n".utf8),
        entityTag: tag,
        lastModified: MirrorGround.monday,
        headers: [HeaderField("Date", sent)]
      )
    }
    let conditions = {
      ground.site.requests.filter { $0.path == "/list" }.map { request in
        request.headers["If-Modified-Since"] != nil
      }
    }
    for name in ["a", "b"] { ground.serve("body \(name)", at: "/\(name)") }
    let list = ground.server.address("/list")
    publish("a", sent: sent)
    #expect(try ground.mirror(list, "dir").status == 0)
    // The server's date is of the same second, so that it would confirm the former list.
    publish("b", sent: dayLater)
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files().keys.sorted() == ["b"])
    #expect(conditions() == [false])
    let third = try ground.mirror(list, "dir", "--json")
    #expect(third.status == 0 && conditions() == [true], "\(third)")
    #expect(try third.json().text("segments.0.manifest.status") == "not_modified")
    publish("b", sent: sent, tag: "\"strong\"")
    for _ in 1...2 { #expect(try ground.mirror(list, "other").status == 0) }
    #expect(conditions() == [true])
  }

  @Test("A mirror has each body once on the disk")
  func once() throws {
    ground.publish(files: ["a": "one"])
    #expect(try ground.mirror(list, "dir").status == 0)
    // A file system in memory cannot share blocks.
    #expect(try ground.status("a").st_nlink == 2)
  }

  @Test("A mirror without digests revalidates each file and writes only changed ones")
  func withoutDigests() throws {
    for name in ["a", "b", "c"] { ground.serve("body \(name)", at: "/\(name)") }
    let urls = ["a", "b", "c"].map { ground.server.address("/\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    let before = ground.facts()
    ground.serve("another", at: "/b", modified: MirrorGround.tuesday)
    let second = try ground.mirror("urls.txt", "dir", "--json")
    #expect(second.status == 0, "\(second)")
    #expect(try second.totals()["not_modified"] == 2)
    #expect(try second.totals()["requests"] == 3)
    #expect(ground.files()["b"] == "another")
    #expect(try ground.status("b").st_mtim.tv_sec == MirrorGround.mondaySeconds + 86_400)
    let after = ground.facts()
    for name in ["a", "c"] {
      let path = ground.home.path("dir/\(name)")
      #expect(after[path] == before[path])
    }
  }

  @Test("A manifest for a segment is accepted as the list of a mirror")
  func native() throws {
    ground.serve("one", at: "/a")
    let items = #"[{"url": "a"}]"#
    ground.serve(
      #"{"format": "prefetch-manifest", "version": 1, "segment": "x", "items": \#(items)}"#,
      at: "/manifest.json"
    )
    let run = try ground.mirror(ground.server.address("/manifest.json"), "dir")
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["a": "one"])
  }

  @Test("A file with a new date only keeps its bytes and gets the time")
  func dated() throws {
    ground.serve("one", at: "/a")
    ground.home.write(ground.server.address("/a"), to: "urls.txt")
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    let inode = try ground.status("a").st_ino
    ground.site["/a"] = Site.Page(
      Array("one".utf8),
      entityTag: "\"another\"",
      lastModified: MirrorGround.tuesday
    )
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    let file = try ground.status("a")
    #expect(file.st_mtim.tv_sec == MirrorGround.mondaySeconds + 86_400)
    #expect(file.st_ino == inode)
    #expect(file.st_nlink == 2)
  }

  @Test("Files removed from the list are removed with their folder, and foreign files stay")
  func removal() throws {
    ground.publish(files: ["a": "one", "d": "one", "e": "one", "old/b": "two", "old/c": "three"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.home.write("theirs", to: "dir/note")
    ground.publish(["a", "d", "e"])
    let run = try ground.mirror(list, "dir", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["removed"] == 2)
    #expect(ground.files() == ["a": "one", "d": "one", "e": "one", "note": "theirs"])
    #expect(!FileTree.exists(ground.home.path("dir/old")))
  }

  @Test("A list that lost most of its items removes nothing without `--allow mass-removal`")
  func shrunken() throws {
    let names = (0..<12).map { "f\($0)" }
    ground.publish(files: Dictionary(uniqueKeysWithValues: names.map { ($0, "body of \($0)") }))
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.publish(Array(names.prefix(3)))
    let refused = try ground.mirror(list, "dir")
    #expect(refused.status == 3, "\(refused)")
    #expect(refused.errors.contains("--allow mass-removal"))
    #expect(ground.files().count == 12)
    #expect(try ground.mirror(list, "dir", "--allow", "mass-removal").status == 0)
    #expect(ground.files().count == 3)
  }

  @Test("An empty list removes nothing, whatever `--allow` says, unless `allow_empty` is set")
  func empty() throws {
    ground.home.write("", to: "none.txt")
    let first = try ground.mirror("none.txt", "dir")
    #expect(first.status == 4, "\(first)")
    ground.serve("one", at: "/a")
    ground.home.write(ground.server.address("/a"), to: "none.txt")
    #expect(try ground.mirror("none.txt", "dir").status == 0)
    ground.home.write("\n", to: "none.txt")
    for words in [[], ["--allow", "mass-removal"]] {
      let refused = try ground.home.run(ground.arguments(["none.txt", "dir"] + words))
      #expect(refused.status == 3, "\(refused)")
      #expect(refused.errors.contains("add `--set defaults.allow_empty=true`"), "\(refused)")
      #expect(ground.files() == ["a": "one"])
    }
    let allowed = try ground.mirror("none.txt", "dir", "--set", "defaults.allow_empty=true")
    #expect(allowed.status == 0, "\(allowed)")
    #expect(ground.files().isEmpty)
  }

  @Test("A list from a pipe is read once, whatever the name of the pipe")
  func pipes() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    ground.home.write(
      String(decoding: ground.site["/pub/SHA256SUMS"]?.body ?? [], as: UTF8.self),
      to: "sums"
    )
    let words =
      "--base-url \(ground.server.address("/pub/")) "
      + ground.arguments([]).dropFirst().joined(separator: " ")
    for line in [
      "$prefetch mirror <(cat sums) dir \(words)",
      "cat sums | $prefetch mirror /dev/stdin two \(words)",
      "mkfifo pipe; cat sums >pipe & $prefetch mirror pipe three \(words)",
      "$prefetch mirror - four \(words) <sums",
    ] {
      let run = try ground.home.shell(line, within: 20)
      #expect(run.status == 0, "\(line): \(run)")
    }
    for folder in ["dir", "two", "three", "four"] {
      #expect(ground.files(folder) == ["a": "one", "b": "two"], "\(folder)")
    }
  }

  @Test("A short list from a pipe of any name removes nothing without `--allow mass-removal`")
  func shortPipes() throws {
    let names = ["a", "b", "c", "d"]
    for name in names { ground.serve("body \(name)", at: "/\(name)") }
    let urls = names.map { ground.server.address("/\($0)") + "\n" }
    ground.home.write(urls.joined(), to: "whole")
    ground.home.write(urls[0], to: "short")
    let words = ground.arguments([]).dropFirst().joined(separator: " ")
    try #require(ground.home.tool("mkfifo", ground.home.path("pipe")).status == 0)
    for (folder, list) in [("named", "pipe"), ("input", "-"), ("device", "/dev/stdin")] {
      func mirror(_ source: String, _ more: String = "") throws -> ProgramRun {
        let feed = list == "pipe" ? "cat \(source) >pipe &" : "cat \(source) |"
        let line = "\(feed) $prefetch mirror \(list) \(folder) \(more) \(words)"
        return try ground.home.shell(line, within: 20)
      }
      #expect(try mirror("whole").status == 0, "\(folder)")
      let short = try mirror("short")
      #expect(short.status == 3, "\(folder): \(short)")
      #expect(short.errors.contains("`--allow mass-removal` accepts it once"), "\(short)")
      #expect(ground.files(folder).count == 4, "\(folder)")
      #expect(try mirror("short", "--allow mass-removal").status == 0, "\(folder)")
      #expect(ground.files(folder) == ["a": "body a"], "\(folder)")
    }
  }

  @Test("An empty list from a pipe or standard input ends with 4 and removes nothing")
  func emptyPipes() throws {
    ground.publish(files: ["a": "one"])
    #expect(try ground.mirror(list, "dir").status == 0)
    let words = ground.arguments([]).dropFirst().joined(separator: " ")
    for source in ["<(true)", "- </dev/null"] {
      for more in ["", "--allow mass-removal", "--dry-run"] {
        let line = "$prefetch mirror \(source.replacing("- ", with: "- dir \(more) \(words) "))"
        let whole = source.hasPrefix("-") ? line : "\(line) dir \(more) \(words)"
        let run = try ground.home.shell(whole)
        #expect(run.status == 4, "\(whole): \(run)")
        #expect(run.errors.contains("[manifest.empty]"), "\(run)")
        #expect(ground.files() == ["a": "one"])
      }
    }
    let got = try ground.home.run(
      "get",
      "-",
      "-o",
      "out/",
      "--set",
      "defaults.allow_empty=true",
      input: "\n"
    )
    #expect(got.status == 0, "\(got)")
  }

  @Test("Another list removes nothing without permission, and the last list is named")
  func anotherList() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.serve("three", at: "/pub/c")
    ground.publish(["b", "c"], as: "/pub/other")
    let other = ground.server.address("/pub/other")
    for words in [[], ["--dry-run"]] {
      let refused = try ground.home.run(ground.arguments([other, "dir"] + words))
      #expect(refused.status == 3, "\(refused)")
      #expect(refused.errors.contains("/pub/SHA256SUMS"))
      #expect(refused.errors.contains("--allow list-change"))
      #expect(ground.files() == ["a": "one", "b": "two"])
    }
    #expect(try ground.mirror(other, "dir", "--allow", "mass-removal").status == 3)
    #expect(try ground.mirror(list, "dir").status == 0)
    // A list that names all present files and more replaces the old one without confirmation.
    ground.publish(["a", "b", "c"], as: "/pub/more")
    #expect(try ground.mirror(ground.server.address("/pub/more"), "dir").status == 0)
    let allowed = try ground.mirror(other, "dir", "--allow", "list-change")
    #expect(allowed.status == 0, "\(allowed)")
    #expect(ground.files() == ["b": "two", "c": "three"])
  }

  @Test("A mirror's folder may be moved and continues there")
  func moved() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    #expect(try ground.mirror(list, "dir").status == 0)
    _ = try ground.home.tool("mv", ground.home.path("dir"), ground.home.path("elsewhere"))
    let same = try ground.mirror(list, "elsewhere")
    #expect(same.status == 0, "\(same)")
    #expect(ground.requests == ["/pub/SHA256SUMS"])
    #expect(same.errors.isEmpty, "\(same)")
    ground.publish(["a"])
    #expect(try ground.mirror(list, "elsewhere").status == 0)
    #expect(ground.files("elsewhere") == ["a": "one"])
  }

  @Test("Two mirrors are independent, also with one cache")
  func apart() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    ground.publish(["b"], as: "/pub/other")
    let other = ground.server.address("/pub/other")
    for folders in [[], ["--cache-dir", "cache", "--state-dir", "state"]] {
      for (list, folder) in [(list, "x"), (other, "y"), (list, "x")] {
        let run = try ground.home.run(
          ground.arguments([list, "\(folder)\(folders.count)"] + folders)
        )
        #expect(run.status == 0, "\(run)")
      }
      #expect(ground.files("x\(folders.count)") == ["a": "one", "b": "two"])
      #expect(ground.files("y\(folders.count)") == ["b": "two"])
    }
    #expect(!FileTree.exists(ground.home.path("x4/.prefetch")))
  }

  @Test("A dry run of a mirror prints what would change and creates nothing")
  func dryRun() throws {
    ground.publish(files: ["a": "one"])
    let run = try ground.mirror(list, "dir", "-n")
    #expect(run.status == 0, "\(run)")
    #expect(run.lines.map { $0.prefix(5) } == ["fetch"], "\(run)")
    #expect(!FileTree.exists(ground.home.path("dir")))
  }

  @Test("A quiet mirror prints nothing, `--json` prints one document, and both end as a run")
  func streams() throws {
    ground.publish(files: ["a": "one"])
    let quiet = try ground.mirror(list, "dir", "-q")
    #expect(quiet.status == 0, "\(quiet)")
    #expect(quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
    let report = try ground.mirror(list, "dir", "--json").json()
    #expect(report.text("schema") == "prefetch-report/1")
    #expect(report.text("segments.0.name") == "mirror")
    #expect(report.text("segments.0.published.dir") == ground.home.path("dir"))
    #expect(try ground.mirror(list, "dir", "--detailed-exitcode").status == 0)
    ground.publish(files: ["a": "one", "b": "two"])
    #expect(try ground.mirror(list, "dir", "--detailed-exitcode").status == 2)
  }
}
