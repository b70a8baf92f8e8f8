package import PrefetchCore

/// Which items are worth having.
package struct Download: Hashable, Sendable {
  package typealias Behavior = ItemBehavior

  package var behavior = Behavior.all
  package var retriesFailed = true
  package var itemsPerCategory: Int?
  package var categories: [String: Bool] = [:]
  package var sources: [String: Bool] = [:]

  static let table = ObjectType(Self(), name: "download") {
    Field(
      "behavior",
      \.behavior,
      .choice(),
      "What runs fetch; with `none` only `get` does"
    )
    Field("retry_failed", \.retriesFailed, .boolean, "Whether each run tries failed items again")
    Field(
      "items_per_category",
      \.itemsPerCategory,
      .integer(0...1_000_000),
      "Items taken of each category"
    )
    Field(
      "categories",
      \.categories,
      .map(of: .name, to: .boolean),
      "Categories switched on and off"
    )
    Field("sources", \.sources, .map(of: .name, to: .boolean), "Sources switched on and off")
  }
}
