@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A list from a pipe, without any configuration",
  .enabled(if: Binary.isGiven && Nginx.isInstalled, "\(Binary.absence), and nginx")
)
struct PipedListTests {
  private let home: Home
  private let server: Nginx
  private let local = ["--set", "transport_security.NSAllowsLocalNetworking=true"]

  init() throws {
    home = try Home()
    server = try Nginx()
    FileTree.makeFolder("\(server.files)/sub")
    for name in ["a", "b", "sub/c"] { server.write("body of \(name)", to: name) }
  }

  private func get(_ arguments: [String], input: String) throws -> ProgramRun {
    try home.start(["get"] + arguments + local, input: input).finish()
  }

  private func manifest(_ items: String...) -> String {
    #"{"format":"prefetch-manifest","version":1}"# + "\n" + items.joined(separator: "\n") + "\n"
  }

  @Test("Native lines become files of their names, in their own folders")
  func lines() throws {
    let text = manifest(
      #"{"url":"\#(server.url("a"))"}"#,
      #"{"url":"\#(server.url("sub/c"))","path":"deep/down/c.txt"}"#
    )
    let run = try get(["-", "-o", "out/"], input: text)
    #expect(run.status == 0, "\(run)")
    #expect(home.read("out/a") == "body of a")
    #expect(home.read("out/deep/down/c.txt") == "body of sub/c")
    // Their own earlier selves are replaced, whole.
    #expect(try get(["-", "-o", "out/"], input: text).status == 0)
    #expect(FileTree.names(home.path("out")).sorted() == ["a", "deep"])
  }

  @Test("A real pipe works, and several bodies stay separate")
  func pipe() throws {
    server.write(manifest(#"{"url":"a"}"#, #"{"url":"b"}"#), to: "list")
    let script = "curl -s \(server.url("list")) | $prefetch get - --base-url \(server.url("")) "
    let settings = local.joined(separator: " ")
    let run = try home.shell("\(script) -o dir/ \(settings)")
    #expect(run.status == 0, "\(run)")
    #expect(home.read("dir/b") == "body of b")
    let crowd = try home.shell("\(script) \(settings)")
    #expect(crowd.status == 64, "\(crowd)")
    #expect(crowd.output == "")
    #expect(crowd.errors.contains("add `-o DIR/` or `--path`"))
  }

  @Test("A body stored under another URL is found by its digest, also offline")
  func twin() throws {
    try #require(get([server.url("a")], input: "").status == 0)
    let digest = Digest.hexadecimal("body of a")
    let list = "\(server.url("elsewhere"))#sha256=\(digest)\n"
    let run = try get(["-", "--offline", "-o", "out/"], input: list)
    #expect(run.status == 0, "\(run)")
    #expect(home.read("out/elsewhere") == "body of a")
    let other = "\(server.url("elsewhere"))#sha256=\(Digest.hexadecimal("other"))\n"
    let missing = try get(["-", "--offline"], input: other)
    #expect(missing.status == 4, "\(missing)")
    #expect(missing.output.isEmpty)
    _ = server.drainRequests()
    #expect(try get(["-"], input: list).output == "body of a")
    #expect(server.drainRequests().isEmpty)
  }

  @Test("Names in a folder equal those of a published tree with the layout `basename`")
  func names() throws {
    let names = [("x%3Ay%2B1", "x:y+1"), ("two%20words", "two words"), (".dot", ".dot")]
    for (_, name) in names { server.write("body", to: name) }
    let urls = names.map { server.url($0.0) }
    home.configure(
      """
      segments:
        - { name: s, urls: \(urls), publish: { dir: tree, layout: basename } }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("-q").status == 0)
    let run = try get(["-", "-o", "out/"], input: urls.joined(separator: "\n") + "\n")
    #expect(run.status == 0, "\(run)")
    #expect(FileTree.names(home.path("out")) == FileTree.names(home.path("tree")))
    #expect(FileTree.names(home.path("out")) == names.map(\.1).sorted())
    let folder = try home.run("get", server.url("sub/"), server.url("a"), "-o", "out/")
    #expect(folder.status == 3, "\(folder)")
    #expect(folder.errors.contains("its URL ends with no file name"))
    #expect(home.read("out/a") == "body of a")
    let outside = try home.run("get", server.url("..%2Fa"), "-o", "out/")
    #expect(outside.status == 5, "\(outside)")
    #expect(!FileTree.exists(home.path("a")))
  }

  @Test("A list of names without a base is refused with the missing option")
  func withoutBase() throws {
    let run = try get(["-", "-o", "out/"], input: manifest(#"{"url":"a"}"#))
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("--base-url"))
  }

  @Test("A list that names nothing ends with an error", arguments: ["", "# nothing\n"])
  func empty(_ text: String) throws {
    let run = try get(["-", "-o", "out/"], input: text)
    #expect(run.status != 0, "\(run)")
    #expect(run.errors.contains("error: the manifest on standard input"))
  }

  @Test("Further documents of a piped list are reported and are not ignored")
  func furtherDocuments() throws {
    let index = """
      <?xml version="1.0"?>
      <sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <sitemap><loc>\(server.url("sitemap.xml"))</loc></sitemap></sitemapindex>
      """
    let only = try get(["-", "-o", "out/"], input: index)
    #expect(only.status == 4, "\(only)")
    #expect(only.errors.contains("error: 1 further document of the manifest on standard input"))
    #expect(only.errors.contains("names no items, only further documents"))
    let head = #"{"format":"prefetch-manifest","version":1,"next":"more.ndjson"}"#
    let text = head + "\n" + #"{"url":"a"}"# + "\n"
    let some = try get(["-", "-o", "out/", "--base-url", server.url("")], input: text)
    #expect(some.status == 3, "\(some)")
    #expect(home.read("out/a") == "body of a")
    #expect(server.drainRequests().count == 1)
  }

  @Test("The refusal of plain http names the option that allows it")
  func refusal() throws {
    let run = try home.run("get", server.url("a"))
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("`--set allow_http=127.0.0.1`"))
    #expect(!run.errors.contains("NSAllows"))
  }

  @Test("Equal names and files in place of folders are refused before any request")
  func collisions() throws {
    for paths in [("x", "x"), ("x", "x/y")] {
      let text = manifest(
        #"{"url":"\#(server.url("a"))","path":"\#(paths.0)"}"#,
        #"{"url":"\#(server.url("b"))","path":"\#(paths.1)"}"#
      )
      let run = try get(["-", "-o", "out/"], input: text)
      #expect(run.status == 64, "\(run)")
    }
    #expect(server.drainRequests().isEmpty)
    #expect(!FileTree.exists(home.path("out")))
  }

  @Test("Links that are planted in the folder are not followed out of it")
  func plantedLinks() throws {
    FileTree.makeFolder(home.path("out"))
    FileTree.makeFolder(home.path("elsewhere"))
    home.write("mine", to: "elsewhere/precious")
    unsafe symlink("../elsewhere/precious", home.path("out/a"))
    unsafe symlink("../elsewhere", home.path("out/sub"))
    let file = try get(["-", "-o", "out/"], input: manifest(#"{"url":"\#(server.url("a"))"}"#))
    #expect(file.status == 0, "\(file)")
    #expect(home.read("elsewhere/precious") == "mine")
    #expect(home.read("out/a") == "body of a")
    let text = manifest(#"{"url":"\#(server.url("b"))","path":"sub/precious"}"#)
    let folder = try get(["-", "-o", "out/"], input: text)
    #expect(folder.status == 5, "\(folder)")
    #expect(home.read("elsewhere/precious") == "mine")
    let hidden = manifest(#"{"url":"\#(server.url("b"))","path":"sub/\u0301precious"}"#)
    #expect(try get(["-", "-o", "out/"], input: hidden).status == 5)
    for (path, status) in [("../x", 5), ("/etc/x", 5), ("a/../../x", 5), ("", 4)] {
      let text = manifest(#"{"url":"\#(server.url("b"))","path":"\#(path)"}"#)
      #expect(try get(["-", "-o", "out/"], input: text).status == Int32(status))
    }
    #expect(FileTree.names(home.path("elsewhere")) == ["precious"])
    let long = String(repeating: "n", count: 300)
    let deep = String(repeating: "d/", count: 200) + "f"
    for path in [long, deep, ".prefetch-x"] {
      let text = manifest(
        #"{"url":"\#(server.url("b"))","path":"\#(path)"}"#,
        #"{"url":"\#(server.url("a"))","path":"fine"}"#
      )
      let run = try get(["-", "-o", "names/"], input: text)
      #expect(run.status == 3, "\(run)")
      #expect(FileTree.names(home.path("names")) == ["fine"])
    }
  }

  @Test("A list of a million lines is planned within 300 MB")
  func million() throws {
    // A debug build plans fewer items within the same memory.
    let count = Binary.isRelease ? 1_000_000 : 200_000
    let script = """
      awk 'BEGIN { print "{\\"format\\":\\"prefetch-manifest\\",\\"version\\":1,\\"base\\":\\"https://cdn.example.com/\\"}";
      for (i = 0; i < \(count); i++) printf "{\\"url\\":\\"many/%07d\\",\\"size\\":%d,\\"digests\\":{\\"sha256\\":\\"%064x\\"}}\\n", i, i % 64, i + 1 }' >million.ndjson
      """
    try #require(home.shell(script).status == 0)
    home.write("segments: [{ name: all, manifest: \(home.path("million.ndjson")) }]")
    let plan = home.write("", to: "plan")
    let program = try home.start(["plan", "--no-probe"], output: .file(plan))
    var peak = 0
    while program.isRunning {
      peak = max(peak, ProcessMemory.ownBytes(of: program.processID))
      poll(nil, 0, 2)
    }
    let run = program.finish()
    #expect(run.status == 0, "\(run)")
    #expect(home.read("plan")?.split(separator: "\n").count ?? 0 == count, "\(run)")
    #expect(peak > 1_000_000 && peak < count * 300, "\(peak) bytes")
  }
}
