/// The table "Where things go" of the architecture's page.
struct LocationTable {
  /// Files that a new thing of one kind touches.
  struct Row {
    let name: String
    /// File names such as `StateSchema.swift`, with folders where needed to be unique.
    let files: Set<String>
    /// Places of a new file: a folder, or a name whose dots stand for the variable part.
    let openings: Set<String>
    /// File names of pages and schemas.
    let pages: Set<String>

    init(name: String, text: some StringProtocol) {
      self.name = name
      let literals = text.split(separator: "`", omittingEmptySubsequences: false)
        .enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
      files = Set(literals.filter { LocationTable.isFile($0) && !$0.contains("…") })
      openings = Set(
        literals.filter { $0.hasSuffix("/") || LocationTable.isFile($0) && $0.contains("…") }
      )
      pages = Set(literals.compactMap(LocationTable.page))
    }
  }

  private(set) var rows: [Row] = []
  /// Text of the section above and below the table.
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

extension LocationTable.Row {
  /// Returns the files with a mention that the row does not explain.
  func strays(among paths: [String]) -> [String] {
    var open = openings
    return paths.filter { path in
      if files.contains(where: { path.hasSuffix("/\($0)") }) { return false }
      // Narrow places come first, so that a folder is left for files that only it explains.
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
