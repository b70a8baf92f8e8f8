/// The table of the architecture's page that says where new things go.
struct PlaceTable {
  /// What one kind of thing consists of.
  struct Row {
    var name: String
    /// `StateSchema.swift`, or with as many folders before it as tell it from others.
    var files: Set<String> = []
    /// Where there is one new file: a folder, or a name with dots for what differs.
    var openings: Set<String> = []
  }

  private(set) var rows: [Row] = []

  init(page: String) {
    let section = page.split(separator: "\n## ").first { $0.hasPrefix("Where things go") } ?? ""
    for line in section.split(separator: "\n") where line.hasPrefix("| **") {
      let literals = line.split(separator: "`", omittingEmptySubsequences: false)
        .enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
      var row = Row(name: String(line.dropFirst(4).prefix { $0 != "*" }))
      row.files = Set(literals.filter { Self.isFile($0) && !$0.contains("…") })
      row.openings = Set(
        literals.filter { $0.hasSuffix("/") || Self.isFile($0) && $0.contains("…") }
      )
      rows.append(row)
    }
  }

  private static func isFile(_ literal: String) -> Bool {
    [".swift", ".md"].contains { literal.hasSuffix($0) } && !literal.contains(" ")
  }
}

extension PlaceTable.Row {
  /// Those of the files in which something is mentioned that the row does not account for.
  func strays(among paths: [String]) -> [String] {
    var open = openings
    return paths.filter { path in
      if files.contains(where: { path.hasSuffix("/\($0)") }) { return false }
      // The narrowest first, so that a folder stays open for what only it holds.
      let opening = open.sorted { ($1.count, $0) < ($0.count, $1) }.first { Self.fits(path, $0) }
      return opening.map { open.remove($0) } == nil
    }
  }

  private static func fits(_ path: String, _ opening: String) -> Bool {
    if opening.hasSuffix("/") { return path.contains("/\(opening)") }
    let parts = opening.split(separator: "…")
    guard parts.count == 2, path.hasSuffix(parts[1]) else { return false }
    return path.ranges(of: "/\(parts[0])").contains { !path[$0.upperBound...].contains("/") }
  }
}
