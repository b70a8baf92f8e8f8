/// A table on a wide screen, and on a phone a block per row, which needs explicit roles.
struct HTMLTable {
  struct Column {
    var title: String
    var isNumber = false
  }

  struct Cell {
    var content: String
    var tone = ""
    /// Whether a phone may omit the cell.
    var isNothing = false

    init(_ content: String, tone: String = "") {
      self.content = content
      self.tone = tone
    }

    init(_ number: Int64, tone: String = "") {
      content = HTMLText.count(number)
      isNothing = number == 0
      self.tone = number == 0 ? "" : tone
    }

    init(bytes: Int64) {
      content = Amounts.bytes(bytes)
      isNothing = bytes == 0
    }

    static let nothing: Cell = {
      var cell = Cell("–")
      cell.isNothing = true
      return cell
    }()
  }

  var caption: String
  var columns: [Column]
  /// Rows with a heading in the first cell.
  var rows: [[Cell]]

  var lines: [String] {
    let heads = columns.map { column in
      "<th role=\"columnheader\" scope=\"col\"\(column.isNumber ? " class=\"number\"" : "")>\(column.title)</th>"
    }
    return [
      "<table role=\"table\">", "<caption>\(caption)</caption>",
      "<thead role=\"rowgroup\"><tr role=\"row\">\(heads.joined())</tr></thead>",
      "<tbody role=\"rowgroup\">",
    ] + rows.map(row) + ["</tbody></table>"]
  }

  private func row(_ cells: [Cell]) -> String {
    let markup = zip(columns, cells).enumerated().map { index, pair in
      let (column, cell) = pair
      guard index > 0 else {
        return "<th role=\"rowheader\" scope=\"row\">\(cell.content)</th>"
      }
      let classes = [column.isNumber ? "number" : "", cell.tone, cell.isNothing ? "none" : ""]
        .filter { !$0.isEmpty }.joined(separator: " ")
      let attribute = classes.isEmpty ? "" : " class=\"\(classes)\""
      return "<td role=\"cell\" data-label=\"\(column.title)\"\(attribute)>\(cell.content)</td>"
    }
    return "<tr role=\"row\">\(markup.joined())</tr>"
  }
}
