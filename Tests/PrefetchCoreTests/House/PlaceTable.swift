/// The table of the architecture's page that says where new things go.
struct PlaceTable {
  /// What one kind of thing consists of.
  struct Row {
    let name: String
    /// `StateSchema.swift`, or with as many folders before it as tell it from others.
    let files: Set<String>
    /// Where there is one new file: a folder, or a name with dots for what differs.
    let openings: Set<String>
    /// Pages and schemas, by their files.
    let pages: Set<String>

    init(name: String, text: some StringProtocol) {
      self.name = name
      let literals = text.split(separator: "`", omittingEmptySubsequences: false)
        .enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
      files = Set(literals.filter { PlaceTable.isFile($0) && !$0.contains("…") })
      openings = Set(
        literals.filter { $0.hasSuffix("/") || PlaceTable.isFile($0) && $0.contains("…") }
      )
      pages = Set(literals.compactMap(PlaceTable.page))
    }
  }

  private(set) var rows: [Row] = []
  /// What the section says above and below the table.
  let prose: Row

  init(page: String) {
    let section = page.split(separator: "\n## ").first { $0.hasPrefix("Where things go") } ?? ""
    let lines = section.split(separator: "\n")
    for line in lines where line.hasPrefix("| **") {
      rows.append(Row(name: String(line.dropFirst(4).prefix { $0 != "*" }), text: line))
    }
    prose = Row(name: "prose", text: lines.filter { !$0.hasPrefix("|") }.joined(separator: "\n"))
  }

  /// `prefetch-report(5)`, `prefetch-report.schema.json`.
  private static func page(_ literal: String) -> String? {
    if literal.hasSuffix(".schema.json") { return "man/\(literal)" }
    guard literal.hasPrefix("prefetch"), literal.hasSuffix(")") else { return nil }
    let parts = literal.dropLast().split(separator: "(")
    return parts.count == 2 ? "man/\(parts[0]).\(parts[1])" : nil
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
