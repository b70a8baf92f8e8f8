import Testing

/// Checks the architecture's table "Where things go" against existing things.
@Suite("The table of places in the architecture page") struct LocationTableTests {
  private static let table = LocationTable(
    page: String(decoding: Repository.text(of: "Sources/ARCHITECTURE.md"), as: UTF8.self)
  )

  /// An existing thing of each kind, by its names in code.
  struct Example: CustomTestStringConvertible, Sendable {
    var row: String
    var names: Set<String>

    var testDescription: String { row }
  }

  private static let examples = [
    Example(row: "manifest format", names: ["Metalink", "metalink"]),
    Example(row: "manifest format", names: ["YarnLock", "yarnLock"]),
    Example(row: "option of one command", names: ["showsOrigins"]),
    Example(row: "option of all runs", names: ["jobsPerHost"]),
    Example(row: "option of all runs", names: ["allowsRollback"]),
    Example(row: "command", names: ["PinsOptions", "PinsCommand"]),
    Example(row: "policy rule", names: ["maximumRemovalFraction"]),
    Example(row: "reason to put items off", names: ["breaker"]),
    Example(
      row: "rule remembered over runs",
      names: ["lessons", "protocolLessons", "ProtocolLesson"]
    ),
    Example(row: "rule remembered over runs", names: ["hostGates", "recordHostGates"]),
    Example(row: "rendering of the report", names: ["junit", "ReportJUnit"]),
  ]

  @Test("The page names no file and no folder that does not exist")
  func namesAreThere() {
    #expect(Self.table.rows.count > 8)
    let files = Repository.swiftFiles(below: "Sources") + Repository.swiftFiles(below: "Tests")
    for row in Self.table.rows + [Self.table.prose] {
      for name in row.files {
        let isThere =
          files.contains { $0.hasSuffix("/\(name)") } || !Repository.text(of: name).isEmpty
        #expect(isThere, "\(row.name): \(name)")
      }
      for folder in row.openings where folder.hasSuffix("/") {
        let isThere = ["", "Sources/"].contains { !Repository.names(in: $0 + folder).isEmpty }
        #expect(isThere, "\(row.name): \(folder)")
      }
      for page in row.pages { #expect(!Repository.text(of: page).isEmpty, "\(row.name): \(page)") }
    }
  }

  @Test(
    "An example of a row is mentioned only in the files that the page names",
    arguments: examples
  )
  func oneOfAKind(example: Example) throws {
    let row = try #require(Self.table.rows.first { $0.name == example.row })
    let paths = Repository.swiftFiles(below: "Sources").filter { path in
      SwiftTokens(Repository.text(of: path)).all.contains { example.names.contains($0.word) }
    }
    #expect(row.strays(among: paths) == [])
    #expect(paths.count > 1)
  }

  @Test(
    "A second list of the same words is found",
    arguments: [
      (["Sources/A/Table.swift", "Sources/A/B/New.swift"], []),
      (["Sources/A/B/New.swift", "Sources/A/B/List.swift"], ["Sources/A/B/List.swift"]),
      (["Sources/A/List.swift"], ["Sources/A/List.swift"]),
      (["Sources/A/B/New.swift", "Sources/A/B/ReportNew.swift"], []),
      (["Sources/C/ReportNew.swift", "Sources/C/ReportOld.swift"], ["Sources/C/ReportOld.swift"]),
      (["Sources/C/OtherTable.swift"], ["Sources/C/OtherTable.swift"]),
    ] as [([String], [String])]
  )
  func secondList(paths: [String], expected: [String]) throws {
    let page = """
      # A page
      ## Where things go
      See `prefetch-x(5)`.

      | new | where | and then |
      |---|---|---|
      | **thing** | a file in `A/B/`, or `Report….swift` | a row in `Table.swift`, and `--more` |

      Also `Prose.swift`.
      ## Another
      | **other** | `Other.swift` | |
      """
    let table = LocationTable(page: page)
    #expect(table.rows.map(\.name) == ["thing"])
    #expect(table.prose.files == ["Prose.swift"] && table.prose.pages == ["man/prefetch-x.5"])
    #expect(try #require(table.rows.first).strays(among: paths) == expected)
  }
}
