/// Stored files of an item of several files, by key.
struct KeptFiles {
  let stored: [String: BundleFile]
  /// Files that earlier runs reserved for the next whole.
  let reserved: [String: BundleFile]

  init(_ files: [BundleFile]) {
    let known = files.filter { !$0.key.isEmpty }
    let byKey = { (files: [BundleFile]) in
      Dictionary(files.map { ($0.key, $0) }) { first, _ in first }
    }
    stored = byKey(known.filter { !$0.isReserved })
    reserved = byKey(known.filter(\.isReserved))
  }

  /// Returns the stored files that satisfy a part, newest first.
  func files(for piece: BundlePiece, known key: String) -> [BundleFile] {
    [reserved[key], stored[key]].compactMap(\.self).filter { $0.has(piece) }
  }

  /// Returns the stored beginnings of a part that is now wanted whole, longest first.
  func beginnings(of piece: BundlePiece, known key: String) -> [BundleFile] {
    guard piece.prefix == nil else { return [] }
    return [reserved[key], stored[key]].compactMap(\.self)
      .filter { $0.role == piece.role && $0.prefix != nil }
      .sorted { $1.size < $0.size }
  }

  func documents(known key: String) -> [BundleFile] {
    [stored[key], reserved[key]].compactMap(\.self).filter { $0.role == .document }
  }

  func isOfUnknownEdition(_ file: BundleFile) -> Bool {
    file.isReserved && !reserved.values.contains { $0.role == .document }
  }
}
