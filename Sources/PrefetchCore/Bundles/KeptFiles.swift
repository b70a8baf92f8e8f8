/// What is here of an item of several files when it is asked about, by what its files are known by.
struct KeptFiles {
  /// Of the whole that readers see.
  let stored: [String: BundleFile]
  /// What earlier runs have kept for the next whole.
  let reserved: [String: BundleFile]

  init(_ files: [BundleFile]) {
    let known = files.filter { !$0.key.isEmpty }
    let byKey = { (files: [BundleFile]) in
      Dictionary(files.map { ($0.key, $0) }) { first, _ in first }
    }
    stored = byKey(known.filter { !$0.isReserved })
    reserved = byKey(known.filter(\.isReserved))
  }

  /// Of a part, the newest first.
  func files(for part: BundlePart, known key: String) -> [BundleFile] {
    [reserved[key], stored[key]].compactMap(\.self).filter { $0.has(part) }
  }

  /// The files that hold the beginning of a part, which is wanted whole by now; the longest first.
  func beginnings(of part: BundlePart, known key: String) -> [BundleFile] {
    guard part.prefix == nil else { return [] }
    return [reserved[key], stored[key]].compactMap(\.self)
      .filter { $0.role == part.role && $0.prefix != nil }
      .sorted { $1.size < $0.size }
  }

  /// Of a document, the one that readers see first.
  func documents(known key: String) -> [BundleFile] {
    [stored[key], reserved[key]].compactMap(\.self).filter { $0.role == .document }
  }

  /// Whether the playlist that a file was taken for is not known.
  func isOfUnknownEdition(_ file: BundleFile) -> Bool {
    file.isReserved && !reserved.values.contains { $0.role == .document }
  }
}
