/// All colours of the HTML report, for light and dark; a test computes their contrasts.
enum HTMLPalette {
  struct Colour: Sendable {
    var name: String
    var light: String
    var dark: String
  }

  static let grounds = [
    Colour(name: "page", light: "#ffffff", dark: "#0f1419"),
    Colour(name: "panel", light: "#f5f7f9", dark: "#182028"),
  ]

  static let texts = [
    Colour(name: "ink", light: "#1b2229", dark: "#e4e9ee"),
    Colour(name: "quiet", light: "#55606b", dark: "#a3afbb"),
    Colour(name: "good", light: "#17692f", dark: "#63d182"),
    Colour(name: "caution", light: "#8a5200", dark: "#e8b450"),
    Colour(name: "bad", light: "#b3221a", dark: "#ff8a80"),
    Colour(name: "accent", light: "#0a58b0", dark: "#7db8ff"),
  ]

  static let shapes = [
    Colour(name: "lookup", light: "#00756b", dark: "#2fb8a8"),
    Colour(name: "connecting", light: "#b35309", dark: "#f0934a"),
    Colour(name: "securing", light: "#7a45c9", dark: "#b892f5"),
    Colour(name: "queueing", light: "#b0266f", dark: "#f07ab5"),
    Colour(name: "waiting", light: "#79858f", dark: "#8693a0"),
    Colour(name: "receiving", light: "#0a6cd6", dark: "#5aa5f5"),
  ]

  /// Decorative lines, which carry no information alone.
  static let lines = [Colour(name: "line", light: "#d3dae0", dark: "#323d48")]

  private static let all = grounds + texts + shapes + lines

  static var rules: String {
    let light = all.map { "--\($0.name):\($0.light)" }.joined(separator: ";")
    let dark = all.map { "--\($0.name):\($0.dark)" }.joined(separator: ";")
    return """
      :root{color-scheme:light dark;\(light)}
      @media (prefers-color-scheme:dark){:root{\(dark)}}
      """
  }
}
