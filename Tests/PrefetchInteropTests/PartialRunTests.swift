import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("A run of some segments", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PartialRunTests {
  private let home: Home
  private let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
  private let server: LoopbackServer

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home()
    home.configure(
      """
      cache: { min_free: 0 }
      report: { files: { prometheus: m.prom, html: page.html } }
      segments:
        - { name: first, urls: ["\(try server.url("/one"))"] }
        - { name: second, urls: ["\(try server.url("/two"))"] }
      """
    )
  }

  /// The samples of the textfile by name and segment.
  private func samples() throws -> [String: String] {
    let lines = try #require(home.read("m.prom")).split(separator: "\n").filter { $0.first != "#" }
    var samples: [String: String] = [:]
    for line in lines {
      let words = line.split(separator: " ")
      let name = words[0].split(separator: "{")[0]
      let labels = words[0].split(separator: ",").dropFirst().joined(separator: ",")
      samples["\(name) \(labels)"] = String(words[1])
    }
    return samples
  }

  @Test("A run of some segments updates their metrics and page sections and no others")
  func kept() throws {
    #expect(try home.run("run").status == 0)
    let before = try samples()
    #expect(before["prefetch_segment_current segment=\"second\"}"] == "1")
    site["/one"] = nil
    #expect(try home.run("run", "--refetch", "first").status == 3)
    let after = try samples()
    #expect(Set(after.keys) == Set(before.keys))
    let changed = after.filter { before[$0.key] != $0.value }.keys
    #expect(changed.allSatisfy { $0.contains("segment=\"first\"") }, "\(changed)")
    #expect(after["prefetch_segment_current segment=\"first\"}"] == "0")
    let page = try #require(home.read("page.html"))
    #expect(page.contains("second<span class=\"about\">not requested; as the run of "))
  }

  @Test("A run of some segments does not count as a success of all")
  func successes() throws {
    site["/two"] = nil
    #expect(try home.run("run").status == 3)
    #expect(try home.run("run", "first").status == 0)
    #expect(try samples()["prefetch_last_success_timestamp_seconds "] == "0")
    #expect(try home.run("run").status == 3)
    #expect(try samples()["prefetch_last_success_timestamp_seconds "] == "0")
  }

  @Test("A thousand foreign files in a tree are reported in one line with their number")
  func strangers() throws {
    var list = ""
    FileTree.makeFolder(home.path("tree"))
    for number in 0..<1000 {
      site["/f\(number)"] = Site.Page("\(number)")
      list += try server.url("/f\(number)").string + "\n"
      home.write("mine", to: "tree/f\(number)")
    }
    site["/list.txt"] = Site.Page(list)
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: files
          manifest: "\(try server.url("/list.txt"))"
          publish: { dir: tree, layout: basename }
      """
    )
    let run = try home.run("run")
    #expect(run.status == 3, "\(run)")
    let lines = run.errors.split(separator: "\n").filter { $0.contains("the published tree of") }
    #expect(lines.count == 1, "\(run)")
    #expect(lines.first?.contains("1000 files, the first `f0`") == true, "\(run)")
    #expect(home.read("tree/f7") == "mine")
  }
}
