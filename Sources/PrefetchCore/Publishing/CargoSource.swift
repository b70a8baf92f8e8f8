/// The configuration by which cargo takes crates from a published tree instead of crates.io.
///
/// The tree is what cargo calls a local registry: the crates as they are, and below `index` what the
/// registry says of each, as its sparse index serves it.
enum CargoSource {
  /// Of this name cargo reads one in the folder that `CARGO_HOME` names.
  static let fileName = "config.toml"

  /// Whether a file may have the name; whatever else lies there may be something that cargo obeys.
  static func holds(_ name: String) -> Bool {
    let parts = PathText.parts(of: name)
    return parts.count == 1 ? name.hasSuffix(".crate") : parts.first == "index"
  }

  static func text(for folder: String) -> String {
    """
    [source.crates-io]
    replace-with = "prefetch"

    [source.prefetch]
    local-registry = "\(quotable(folder))"

    """
  }

  /// For a basic string of TOML.
  private static func quotable(_ text: String) -> String {
    var quotable = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quotable += "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        quotable += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quotable.unicodeScalars.append(scalar)
      }
    }
    return quotable
  }
}
