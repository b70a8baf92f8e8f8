internal import PrefetchCore

/// Finds the lists of checksums among the assets of a release.
enum ChecksumAssets {
  private static let endings = [
    ".sha256", ".sha512", ".sha256sum", ".sha512sum", ".sha256.txt", ".sha512.txt",
    ".sha256sum.txt", ".sha512sum.txt",
  ]
  private static let marks = [
    "sha256sum", "sha512sum", "shasums256", "shasums512", "checksums.txt", "checksum.txt",
  ]
  private static let foreignMarks = ["md5", "sha1", "sha224", "b2sum", "b3sum", "blake", "sha3"]
  private static let foreignEndings = [
    ".sig", ".asc", ".sign", ".gpg", ".minisig", ".pem", ".crt", ".pub", ".json", ".jsonl",
    ".sigstore", ".bundle", ".att", ".intoto",
  ]

  /// Returns the lists to ask for; `paths` are those of assets that lack a digest.
  ///
  /// A list of many assets makes the lists of single ones needless.
  static func documents(
    among assets: [ReleaseAsset],
    of tag: String,
    for paths: Set<String>
  ) -> [FurtherDocument] {
    let names = Set(assets.map(\.name))
    var lists: [FurtherDocument] = []
    var single: [FurtherDocument] = []
    var isLacking = false
    for asset in assets {
      let name = asset.name
      if let subject = subject(of: name), names.contains(subject) {
        guard paths.contains("\(tag)/\(subject)"), !hasStronger(name, among: names) else {
          continue
        }
        single.append(document(asset, of: tag, subject: subject))
      } else if isList(name) {
        if !hasStronger(name, among: names) { lists.append(document(asset, of: tag)) }
      } else if paths.contains("\(tag)/\(name)"), !isSignature(name) {
        isLacking = true
      }
    }
    guard isLacking else { return [] }
    return lists.isEmpty ? single : lists
  }

  private static func document(
    _ asset: ReleaseAsset,
    of tag: String,
    subject: String? = nil
  ) -> FurtherDocument {
    var list = ReleaseChecksums(folder: tag, subject: subject)
    list.digests = asset.entry.digests
    return FurtherDocument(
      url: asset.entry.url,
      kind: .checksums(list),
      accept: asset.entry.headers.first?.value
    )
  }

  /// Returns the file that a list such as `tool.gz.sha256` describes.
  private static func subject(of name: String) -> String? {
    let small = name.lowercased()
    return endings.lazy.filter { small.hasSuffix($0) && small.utf8.count > $0.utf8.count }
      .map { String(name.dropLast($0.utf8.count)) }.first
  }

  static func isList(_ name: String) -> Bool {
    let small = name.lowercased()
    guard !isSignature(name), !foreignMarks.contains(where: { small.contains($0) }) else {
      return false
    }
    return FormatTable.row(name: small)?.kind == .checksums
      || marks.contains { small.contains($0) }
  }

  private static func isSignature(_ name: String) -> Bool {
    let small = name.lowercased()
    return foreignEndings.contains { small.hasSuffix($0) }
  }

  /// Whether the same list is there with SHA-256, which the store knows of each body anyway.
  private static func hasStronger(_ name: String, among names: Set<String>) -> Bool {
    let other = name.replacing("512", with: "256")
    return other != name && names.contains(other)
  }
}
