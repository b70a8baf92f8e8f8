import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite("A JSON list of a folder", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct JSONTreeTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
    for (path, text) in [
      ("/pub/a.txt", "a"), ("/pub/deep/b%20c%23.txt", "b"), ("/pub/x/a.txt", "x"),
    ] {
      ground.serve(text, at: path)
    }
  }

  private func keys(_ more: String...) throws -> [String] {
    let base = try ground.server.url("/pub/").string
    let settings = ["json.base=\(base)", "format=json"] + more
    return settings.flatMap { ["--set", "segments.mirror.\($0)"] }
  }

  private func mirror(_ list: String, _ keys: [String]) throws -> ProgramRun {
    ground.home.write(list, to: "list.json")
    return try ground.home.run(ground.arguments(["./list.json", "dir"] + keys))
  }

  @Test("A JSON list keeps its tree where `json.path` names files that are URLs too")
  func paths() throws {
    let list = """
      [{"Path": "a.txt", "Size": 1, "IsDir": false}, {"Path": "deep/b c#.txt", "Size": 1},
       {"Path": "x/a.txt", "Size": 1}]
      """
    let run = try mirror(list, keys("json.path=/Path", "json.size=/Size"))
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["a.txt": "a", "deep/b c#.txt": "b", "x/a.txt": "x"])
  }

  @Test("A JSON list takes URLs relative to `json.base` and names from another key")
  func urls() throws {
    let list = #"{"files": [{"u": "x/a.txt", "n": "named/one"}, {"u": "a.txt"}]}"#
    let run = try mirror(list, keys("json.items=/files", "json.url=/u", "json.path=/n"))
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["named/one": "x", "pub/a.txt": "a"])
  }

  @Test(
    "A JSON list may not name files outside the tree, and a pointer without a match is reported"
  )
  func refused() throws {
    let escape = try mirror(#"[{"Path": "../evil"}, {"Path": "a.txt"}]"#, keys("json.path=/Path"))
    #expect(escape.status != 0, "\(escape)")
    #expect(ground.home.read("evil") == nil)
    #expect(ground.files() == ["a.txt": "a"])
    let nowhere = try mirror(#"[{"Path": "a.txt"}]"#, keys("json.path=/Name"))
    #expect(nowhere.errors.contains("`json.path` `/Name` finds nothing in any item"), "\(nowhere)")
    #expect(ground.files() == ["a.txt": "a"])
  }
}
