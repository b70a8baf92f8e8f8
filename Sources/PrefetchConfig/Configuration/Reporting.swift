package enum ReportFormat: String, Hashable, Sendable, CaseIterable {
  case text
  case json
  case ndjson
  case md
  case junit
  case prometheus
  case html
}

package enum ReportedItems: String, Hashable, Sendable, CaseIterable {
  case changed
  case all
}

package struct Reporting: Hashable, Sendable {
  package var format = ReportFormat.text
  package var files: [String: String] = [:]
  package var items = ReportedItems.changed
  package var history = 50

  static let table = ObjectType(Self(), name: "report") {
    Field("format", \.format, .choice()).help("Format of the report on standard output")
    Field(
      "files",
      \.files,
      .map(of: .oneOf("format", ReportFormat.allCases.map(\.rawValue)), to: .outputPath)
    )
    .help("Further reports by format: a path, `-` for standard output, or `+PATH` to append")
    Field("items", \.items, .choice()).help("Whether the report lists unchanged items too")
    Field("history", \.history, .integer(0...100_000)).help("Past runs that the state keeps")
  }
}
