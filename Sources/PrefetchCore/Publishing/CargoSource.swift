extension PublishingRules {
  package var cargoHome: String { "\(folder)/.cargo" }
}

/// Configuration that makes cargo use a published tree as a local registry in place of crates.io.
///
/// The tree has the crates and, below `index`, the registry's sparse index.
enum CargoSource {
  /// File name in the tree; cargo resolves its paths from the tree's folder, even if moved.
  static let fileName = ".cargo/config.toml"

  /// Whether a list may use the name; other files might be obeyed by cargo.
  static func holds(_ name: String) -> Bool {
    let parts = PathText.components(of: name)
    return parts.count == 1 ? name.hasSuffix(".crate") : parts.first == "index"
  }

  static let text = """
    [source.crates-io]
    replace-with = "prefetch"

    [source.prefetch]
    local-registry = "."

    """
}
