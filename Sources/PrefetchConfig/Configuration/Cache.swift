package import PrefetchCore
import PrefetchDocuments

/// Locations of the content store and of the runs' state, with keys that no run decides by.
package struct Cache: Sendable {
  package var folder: String?
  /// Read-only caches below this one, uppermost first.
  package var lower: [String] = []
  package var stateFolder: String?
  package var negativeTimeToLive = Duration.seconds(600)
  package var durability = Durability.batch
  /// Whether the user promises to use a cache on a network file system by one process at a time.
  package var isUsedAlone = false
  /// Whether other users may own, write and read the cache's folders.
  package var isShared = false
}

extension Configuration {
  static let cacheTable = ObjectType(Self(), name: "cache") {
    Field("dir", \.cache.folder, .path).help("Folder of the cache")
    Field("lower", \.cache.lower, .list(of: .path))
      .help("Folders of lower caches, the uppermost first; runs read them and never write")
    Field("size", \.policy.room.limit, .sizeBound.notTiny)
      .help("Most bytes that all bodies in the cache may take together")
    Field("max_file_size", \.policy.maximumFileSize, .sizeBound).help("Largest body that is kept")
    Field("max_manifest_size", \.policy.maximumManifestSize, .sizeLimit)
      .help("Largest manifest that is read")
    Field("min_free", \.policy.room.minimumFree, .size)
      .help(
        "Bytes that must stay free on the disk; by default 1 GiB or a tenth of the file system, the smaller"
      )
    Field("ttl", \.policy.freshnessLimit, .duration)
      .help("Lifetime of answers that state none, and upper bound for the others")
    Field("negative_ttl", \.cache.negativeTimeToLive, .duration)
      .help("How long `get` remembers a 404 or 410; with 0 it asks every time")
    Field("max_stale", \.policy.maximumStale, .duration)
      .help("How long a stale copy serves if its server does not answer")
    Field("durability", \.cache.durability, .choice())
      .help("How often prefetch forces written files onto the disk")
    Field("purge", \.self, purgeTable).help("Removal from the cache")
    Field("remote", \.policy.tier, tierTable)
      .help("A store that machines share; runs ask it before the origins")
    Field("network_filesystem", \.cache.isUsedAlone, .words(("refuse", false), ("single", true)))
      .help(
        "Whether the cache may be on a network file system, whose locks may fail; `single` promises one process at a time"
      )
    Field("shared", \.cache.isShared, .boolean)
      .help(
        "Whether cache and state folders may have any owner and mode, and other users may read a new cache"
      )
  }

  private static let purgeTable = ObjectType(Self(), name: "purge") {
    Field("auto", \.policy.room.isAutomatic, .boolean).help("Whether a run makes room by itself")
    Field("order", \.policy.room.order, .list(of: .choice(), atLeast: 1))
      .help("Order in which content is evicted")
    Field("max_fraction", \.policy.maximumRemovalFraction, .fraction)
      .help("Largest part of a segment that a new manifest may drop; otherwise it is refused")
    Field("grace", \.policy.removalGrace, .duration)
      .help(
        "Longest time that items removed from a list stay while their replacements fail"
      )
  }

  private static let tierTable = ObjectType(TierSettings(), name: "remote", shorthand: "url") {
    Field("url", \.url, .url)
      .help("URL of the store; `cas/` below it has bodies, `ac/` records")
    Field("kind", \.kind, .choice())
      .help("Protocol of the store: plain HTTP requests, or those of a bucket")
    Field("mode", \.mode, .choice())
      .help("Whether runs read from the store, write to it, or both")
    Field("trust", \.isTrusted, .boolean)
      .help("Whether its records of origin answers are believed; bodies are always checked")
    Field("share", \.sharesAll, .words(("public", false), ("all", true)))
      .help("What runs write there: `public` is what any machine could fetch, `all` is everything")
    Field("required", \.isRequired, .boolean)
      .help("Whether a run that cannot use it ends with 69, and asks no origin instead")
    Field("timeout", \.timeout, .duration.positive).help("Longest silence of the store in a run")
    Field("headers", \.headers, .headers).help("Headers of requests to the store").secret
    Field("region", \.region, .text.nonEmpty.singleLine).help("Region of the bucket")
    Field("credentials", \.credentials, .tierCredentials)
      .help(
        "Credentials: `NAME:PASSWORD` or a token; for a bucket `KEY:SECRET` or `KEY:SECRET:TOKEN`"
      )
      .secret
  }
  .checking { tier, facts, decoder in
    guard tier.isRequired, tier.url == nil else { return }
    decoder.report(
      "config.missing-url",
      "`required` is true, and no `url` says where the store is",
      at: facts.keyNode(of: "required")
    )
  }

  static let stateTable = ObjectType(Self(), name: "state") {
    Field("dir", \.cache.stateFolder, .path).help("Folder of the state database")
  }
}

extension ValueType where Value == Int64? {
  fileprivate var notTiny: Self {
    checked { limit, node, decoder in
      guard let bytes = limit, let text = node.scalar?.text else { return }
      let isBare = !text.contains(where: \.isLetter)
      guard bytes < 1 << 20 || isBare && bytes < 1_000_000_000 else { return }
      // Few digits are megabytes to most people; the numbers of the guides were kilobytes.
      let unit = bytes < 10_000 ? "MB" : "kB"
      let guess = bytes < 1 << 20 ? "`\(text)\(unit)` if that is meant, or " : ""
      decoder.report(
        LoadedConfiguration.tinyCacheCode,
        "`\(decoder.lastKey)` is \(isBare ? "\(bytes) bytes (\(SizeText.format(bytes)))" : text)",
        severity: .note,
        hint: isBare
          ? "a number without a unit is bytes; write \(guess)`\(text)B`"
          : "few files fit into it; check the unit",
        at: node
      )
    }
  }
}

extension LoadedConfiguration {
  package static let tinyCacheCode: Diagnostic.Code = "config.bare-number"
}

extension ValueType where Value == Secret {
  fileprivate static var tierCredentials: Self {
    scalar("credentials", summary: "text", schema: .headerWord) { text throws(ValueComplaint) in
      let trimmed = Blanks.trimmed(text)
      guard !trimmed.isEmpty, trimmed.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw ValueComplaint("the credentials hold characters that no header can carry")
      }
      return Secret(trimmed)
    } encode: { _ in
      .string(Secret.mask)
    }
    .checked { secret, node, decoder in
      decoder.recordSecret(secret.value, literallyAt: node)
      for part in secret.value.split(separator: ":").dropFirst() {
        decoder.recordSecret(String(part))
      }
    }
  }
}
