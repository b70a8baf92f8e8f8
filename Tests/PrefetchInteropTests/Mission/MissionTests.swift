import PrefetchTestSupport
import Testing

/// Each fact that the SDKs' documents describe is shown by tests of this folder, or has a reason.
@Suite("The list of facts of the SDKs' documents")
struct MissionTests {
  private let mission: Mission

  init() throws {
    mission = try Mission.read()
  }

  @Test("The list has every fact once, in order")
  func facts() {
    #expect(mission.unclear.isEmpty, "\(mission.unclear)")
    for isPartly in [false, true] {
      let numbers = mission.facts.filter { $0.isPartly == isPartly }.map(\.number)
      #expect(numbers == numbers.sorted())
    }
    let byNumber = Dictionary(grouping: mission.facts, by: \.number)
    #expect(byNumber.values.filter { $0.count > 1 }.map(\.[0].number) == [])
    #expect(mission.facts.count { $0.level == "M" } == 246)
    #expect(mission.facts.count { $0.level == "S" } == 67)
  }

  @Test("Every fact names a test, or why it is shown partly or not at all")
  func reasons() {
    for fact in mission.facts {
      #expect(fact.isPartly || !fact.tests.isEmpty, "\(fact) names no test")
      #expect(fact.isPartly == (fact.reason != nil), "\(fact) stands in the wrong part")
      #expect(Set(fact.tests).count == fact.tests.count, "\(fact) names a test twice")
    }
  }

  @Test("Every test and every transcript that a fact names exists")
  func names() {
    let tests = TestNames.all()
    let transcripts = Set(FileTree.names(RepositoryPage.path(Transcript.folder)))
    // A reader of declarations that finds none would find fault with every fact.
    #expect(tests.contains("MissionTests/names"))
    for fact in mission.facts {
      let missing = fact.tests.filter { name in
        name.contains("/") ? !tests.contains(name) : !transcripts.contains(name)
      }
      #expect(missing == [], "\(fact) names what does not exist")
    }
  }

  @Test("A wrongly named fact is detected")
  func mistakes() {
    let text = """
      # A remark.

      000-01 M  One fact.
        ATests/a, b.txt,
        CTests/c
      0-1 M  No number.
      == Partly or missing
      000-02 S  Another one.
        because it is not needed
      """
    let mission = Mission(text)
    #expect(mission.facts.map(\.tests) == [["ATests/a", "b.txt", "CTests/c"], []])
    #expect(mission.facts.map(\.reason) == [nil, "it is not needed"])
    #expect(mission.facts.map(\.isPartly) == [false, true])
    #expect(mission.unclear == ["0-1 M  No number."])
    let source = """
      @Suite("Words")
      final class ATests: Ground {
        @Test(
          "It has func words in its name",
          arguments: [1, 2]
        )
        func a(_ number: Int) {}

        func helper() {}
      }

      private struct BTests {
        @Test func b() {}
      }
      """
    #expect(TestNames.names(in: source) == ["ATests/a", "BTests/b"])
  }
}
