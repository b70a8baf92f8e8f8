import PrefetchCore
import PrefetchDocuments

/// The content store: where it is, how much it takes, how long things stay fresh.
package struct Cache: Hashable, Sendable {
  package enum Durability: String, Hashable, Sendable, CaseIterable {
    case none
    case batch
    case each
  }

  package enum NetworkFileSystem: String, Hashable, Sendable, CaseIterable {
    case refuse
    case single
  }

  package struct Purge: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
      case expired
      case consumed
      case lru
    }

    package var isAutomatic = true
    package var order: [Kind] = Kind.allCases
    package var maximumFraction = Fraction(thousandths: 500)

    static let table = ObjectType(Self(), name: "purge") {
      Field("auto", \.isAutomatic, .boolean, "Whether a run makes room by itself")
      Field(
        "order",
        \.order,
        .list(of: .choice(), atLeast: 1),
        "What goes first when room is needed"
      )
      Field(
        "max_fraction",
        \.maximumFraction,
        .fraction,
        "Part of a segment that a new manifest may drop before it is refused"
      )
    }
  }

  package var folder: String?
  package var size = ByteLimit.unlimited
  package var maximumFileSize = ByteLimit.of(10 << 30)
  package var maximumManifestSize = ByteLimit.of(512 << 20)
  package var minimumFree: Int64?
  package var timeToLive: Duration?
  package var negativeTimeToLive = Duration.seconds(600)
  package var maximumStale = Duration.zero
  package var durability = Durability.batch
  package var purge = Purge()
  package var networkFileSystem = NetworkFileSystem.refuse

  static let table = ObjectType(Self(), name: "cache") {
    Field("dir", \.folder, .path, "Folder of the cache")
    Field(
      "size",
      \.size,
      .sizeLimit.notTiny,
      "Bytes that all bodies in the cache may take together"
    )
    Field("max_file_size", \.maximumFileSize, .sizeLimit, "Largest body that is kept")
    Field("max_manifest_size", \.maximumManifestSize, .sizeLimit, "Largest manifest that is read")
    Field(
      "min_free",
      \.minimumFree,
      .size,
      "Bytes that must stay free on the disk; unless said otherwise 1 GiB or a tenth of its file system, the smaller"
    )
    Field(
      "ttl",
      \.timeToLive,
      .duration,
      "How long answers count as fresh that do not say; a bound for those that do"
    )
    Field(
      "negative_ttl",
      \.negativeTimeToLive,
      .duration,
      "How long `get` remembers that a server does not have something; 0 asks every time"
    )
    Field(
      "max_stale",
      \.maximumStale,
      .duration,
      "How long a stale copy serves when its server cannot be asked"
    )
    Field("durability", \.durability, .choice(), "How often written files are forced onto the disk")
    Field("purge", \.purge, Purge.table, "How things leave the cache")
    Field(
      "network_filesystem",
      \.networkFileSystem,
      .choice(),
      "Whether a cache may be on a network file system, where locks may lie: `single` promises that one process at a time uses it"
    )
  }
}

extension ValueType where Value == ByteLimit {
  /// A cache of a few bytes is mostly a forgotten unit.
  fileprivate var notTiny: Self {
    checked { limit, node, decoder in
      guard let bytes = limit.amount, bytes < 1_000_000, let text = node.scalar?.text,
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
