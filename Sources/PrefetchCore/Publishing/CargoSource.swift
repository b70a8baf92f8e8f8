extension PublishingRules {
  /// The folder in a tree of layout `cargo` that cargo takes for its home.
  package var cargoHome: String { "\(folder)/.cargo" }
}

/// The configuration by which cargo takes crates from a published tree instead of crates.io.
///
/// The tree is what cargo calls a local registry: the crates as they are, and below `index` what the
/// registry says of each, as its sparse index serves it.
enum CargoSource {
  /// The name of the file in the tree: cargo resolves paths in it against the folder above `.cargo`,
  /// which is the tree itself wherever that is moved to.
  static let fileName = ".cargo/config.toml"

  /// Whether a file may have the name; whatever else lies there may be something that cargo obeys.
  static func holds(_ name: String) -> Bool {
    let parts = PathText.parts(of: name)
    return parts.count == 1 ? name.hasSuffix(".crate") : parts.first == "index"
  }

  static let text = """
    [source.crates-io]
    replace-with = "prefetch"

    [source.prefetch]
    local-registry = "."

    """
}
