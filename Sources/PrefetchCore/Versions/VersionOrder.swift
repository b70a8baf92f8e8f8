/// Order of `select`, by which one version is newer than another.
package enum VersionOrder: String, Hashable, Sendable, CaseIterable {
  /// PEP 440 where all versions of a group are valid, else `natural`.
  case version
  case natural
  case semver
  case debian
  case date

  /// Returns the key of a version; nil if the order is `version` and the text is not PEP 440.
  ///
  /// The other orders rank a text that they cannot read before all others. `listed` is the date
  /// of the list, which counts where the text has none.
  package func key(of text: String, listed: Instant? = nil) -> VersionKey? {
    let bytes = ArraySlice(text.utf8)
    switch self {
    case .version: return PythonVersion.key(bytes)
    case .natural: return ranked(nil, else: bytes)
    case .semver: return ranked(SemanticVersion.key(bytes), else: bytes)
    case .debian: return ranked(DebianVersion.key(bytes), else: bytes)
    case .date: return ranked(DatedVersion.key(bytes, listed: listed), else: bytes)
    }
  }

  private func ranked(_ read: VersionKey?, else bytes: ArraySlice<UInt8>) -> VersionKey {
    var key = VersionKey()
    key.append(read == nil ? 0 : 1)
    if let read { key.append(read) } else { NaturalVersion.append(bytes, to: &key) }
    return key
  }
}
