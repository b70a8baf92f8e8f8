import PrefetchCore
import PrefetchStore

struct SortKey: Hashable, Sendable {
  typealias Field = ItemOrder

  var field: Field
  var isDescending: Bool
}

struct ListOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var segments: [String] = []
  var states: [ItemState] = []
  var types: [String] = []
  var providers: [String] = []
  var ids: [String] = []
  var urlGlobs: [String] = []
  var categories: [String] = []
  var parents: [String] = []
  var search: String?
  var isLockedOnly = false
  var isUnconsumedOnly = false
  var listsIdentities = false
  var sortKeys: [SortKey] = []

  static let command = CommandSpec<ListOptions>(
    name: "list",
    group: .everyday,
    summary: "Print the items of the cache",
    paragraphs: [
      "Filters of different options must all match; of one option given several times, one must match. Failed items are printed too. `--state` also prints declared items that are not stored: `pending` (not processed yet), `discovered` (left to `get` by their `behavior`), `queued`, `downloading`, `idle` (deferred or interrupted), and for 30 days `deleted`. `--json` gives the causes in `reason` and `error`.",
      "`--identities` prints the users of the cache instead: the `name` or file of each configuration, its items and bytes, its last run, and whether its file is missing; then those of the caches under `cache.lower`.",
    ],
    options: [
      .values("segment", \.segments, .text.called("SEGMENT").completed(by: .segments)).help(
        "Only items of this segment"
      ),
      .commaList("state", \.states, .word.called("STATE,…"), isRepeatable: true)
        .help("Only items in one of these states"),
      .commaList("type", \.types, .text.called("TYPE"), isRepeatable: true)
        .help("Only items of this type, or of one of several with commas between"),
      .commaList("category", \.categories, .text.called("NAME,…"), isRepeatable: true)
        .help("Only items in one of these categories"),
      .values("parent", \.parents, .text.called("NAME"))
        .help("Only items in categories that are part of this one"),
      .value("search", \.search, .text.called("TEXT"))
        .help("Only items with this text in their URL, id, provider, title, info or categories"),
      .values("provider", \.providers, .text.called("P")).help("Only items of this provider"),
      .values("id", \.ids, .text.called("ID")).help("Only the item with this id"),
      .values("url", \.urlGlobs, .text.called("URL"))
        .help("Only items whose URL matches, such as `https://example.org/*.json`"),
      .flag("locked", \.isLockedOnly).help("Only items that are protected from removal"),
      .flag("unconsumed", \.isUnconsumedOnly)
        .help("Only items that no record marks as consumed"),
      .flag("identities", \.listsIdentities)
        .help("Print the configurations that use the cache, with their items, bytes and last runs"),
      .commaList("sort", \.sortKeys, .sortKey)
        .help(
          "Order by these keys, `-KEY` from high to low: \(Wording.list(SortKey.Field.allCases.map(\.rawValue), conjunction: "or"))"
        ),
    ],
    exits: [.ok, .config],
    examples: [
      "prefetch list --segment basics --sort -size": "The largest items of a segment first",
      "prefetch list --type video --unconsumed": "The films that were not seen yet",
    ],
    makeCommand: { ListCommand(context: $0, options: $1) }
  )
}

extension ValueKind where Value == SortKey {
  fileprivate static var sortKey: Self {
    let names = SortKey.Field.allCases.map(\.rawValue)
    return Self(
      expectation:
        "keys out of \(Wording.list(names)), each with `-` before it to turn the order round",
      completion: .words(names),
      placeholder: "KEY,…",
      suggest: { text in
        let isDescending = text.hasPrefix("-")
        let name = Suggestion.nearest(
          to: isDescending ? String(text.dropFirst()) : text,
          among: names
        )
        return name.map { isDescending ? "-\($0)" : $0 }
      },
      parse: { text in
        let isDescending = text.hasPrefix("-")
        let field = SortKey.Field(rawValue: isDescending ? String(text.dropFirst()) : text)
        return field.map { SortKey(field: $0, isDescending: isDescending) }
      }
    )
  }
}
