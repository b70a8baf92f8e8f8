package import PrefetchCore
import PrefetchDocuments

/// Where the content store and the memory of runs are, and what of their keys no run decides by.
package struct Cache: Sendable {
  package var folder: String?
  /// Caches below it, which are read and never written; the uppermost first.
  package var lower: [String] = []
  package var stateFolder: String?
  package var negativeTimeToLive = Duration.seconds(600)
  package var durability = Durability.batch
  /// Whether one process at a time uses it, as the user promises of a network file system.
  package var isUsedAlone = false
}

extension Configuration {
  static let cacheTable = ObjectType(Self(), name: "cache") {
    Field("dir", \.cache.folder, .path, "Folder of the cache")
    Field(
      "lower",
      \.cache.lower,
      .list(of: .path),
      "Folders of caches below it, the uppermost first: read, never written"
    )
    Field(
      "size",
      \.policy.room.limit,
      .sizeBound.notTiny,
      "Bytes that all bodies in the cache may take together"
    )
    Field("max_file_size", \.policy.maximumFileSize, .sizeBound, "Largest body that is kept")
    Field(
      "max_manifest_size",
      \.policy.maximumManifestSize,
      .sizeLimit,
      "Largest manifest that is read"
    )
    Field(
      "min_free",
      \.policy.room.minimumFree,
      .size,
      "Bytes that must stay free on the disk; unless said otherwise 1 GiB or a tenth of its file system, the smaller"
    )
    Field(
      "ttl",
      \.policy.freshnessLimit,
      .duration,
      "How long answers count as fresh that do not say; a bound for those that do"
    )
    Field(
      "negative_ttl",
      \.cache.negativeTimeToLive,
      .duration,
      "How long `get` remembers that a server does not have something; 0 asks every time"
    )
    Field(
      "max_stale",
      \.policy.maximumStale,
      .duration,
      "How long a stale copy serves when its server cannot be asked"
    )
    Field(
      "durability",
      \.cache.durability,
      .choice(),
      "How often written files are forced onto the disk"
    )
    Field("purge", \.self, purgeTable, "How things leave the cache")
    Field(
      "network_filesystem",
      \.cache.isUsedAlone,
      .words(("refuse", false), ("single", true)),
      "Whether a cache may be on a network file system, where locks may lie: `single` promises that one process at a time uses it"
    )
  }

  private static let purgeTable = ObjectType(Self(), name: "purge") {
    Field("auto", \.policy.room.isAutomatic, .boolean, "Whether a run makes room by itself")
    Field(
      "order",
      \.policy.room.order,
      .list(of: .choice(), atLeast: 1),
      "What goes first when room is needed"
    )
    Field(
      "max_fraction",
      \.policy.maximumRemovalFraction,
      .fraction,
      "Part of a segment that a new manifest may drop before it is refused"
    )
  }

  static let stateTable = ObjectType(Self(), name: "state") {
    Field("dir", \.cache.stateFolder, .path, "Folder of the state database")
  }
}

extension ValueType where Value == Int64? {
  /// A cache of a few bytes is mostly a forgotten unit.
  fileprivate var notTiny: Self {
    checked { limit, node, decoder in
      guard let bytes = limit, bytes < 1_000_000, let text = node.scalar?.text,
        !text.contains(where: \.isLetter)
      else { return }
      decoder.report(
        "config.bare-number",
        "`\(decoder.lastKey)` is \(bytes) bytes",
        severity: .note,
        hint: "a bare number is bytes; write `\(text)MB` or `\(text)GB` if that was meant",
        at: node
      )
    }
  }
}
