/// Which items are worth having.
package struct Download: Hashable, Sendable {
  package enum Behavior: String, Hashable, Sendable, CaseIterable {
    case all
    case thumbnails
    case none
  }

  package var behavior = Behavior.all
  package var retriesFailed = true
  package var itemsPerCategory: Int?
  package var categories: [String: Bool] = [:]
  package var sources: [String: Bool] = [:]

  static let table = ObjectType(Self(), name: "download") {
    Field(
      "behavior",
      \.behavior,
      .choice(inEffect: [.all]),
      "What runs fetch; with `none` only `get` does"
    )
    Field("retry_failed", \.retriesFailed, .boolean, "Whether each run tries failed items again")
      .later
    Field(
      "items_per_category",
      \.itemsPerCategory,
      .integer(0...1_000_000),
      "Items taken of each category"
    ).later
    Field(
      "categories",
      \.categories,
      .map(of: .name, to: .boolean),
      "Categories switched on and off"
    ).later
    Field("sources", \.sources, .map(of: .name, to: .boolean), "Sources switched on and off").later
  }
}
