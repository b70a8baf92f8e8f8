/// What a run says afterwards, and where.
package struct Reporting: Hashable, Sendable {
  package enum Format: String, Hashable, Sendable, CaseIterable {
    case text
    case json
    case ndjson
    case markdown = "md"
    case junit
    case prometheus
    case html
  }

  package enum Items: String, Hashable, Sendable, CaseIterable {
    case changed
    case all
  }

  package var format = Format.text
  package var files: [String: String] = [:]
  package var items = Items.changed
  package var history = 50

  static let table = ObjectType(Self(), name: "report") {
    Field("format", \.format, .choice(), "Form of the report on standard output")
    Field(
      "files",
      \.files,
      .map(of: .oneOf("format", Format.allCases.map(\.rawValue)), to: .outputPath),
      "Further reports: form to path, `-` for standard output, `+PATH` to append"
    )
    Field("items", \.items, .choice(), "Whether unchanged items are listed too")
    Field("history", \.history, .integer(0...100_000), "Past runs that are remembered")
  }
}
