import PrefetchCore

enum ToolVariables {
  /// Returns the variables; a tool with a single folder gets the first one.
  ///
  /// `withheld` are layouts with a missing tree, whose tools still need the network; `isOffline`
  /// says that uv needs none (`uv sync` always does).
  static func of(
    _ folders: [(layout: PublishingRules.Layout, folder: String)],
    withheld: Set<PublishingRules.Layout> = [],
    isOffline: Bool = true
  ) -> [(name: String, value: String)] {
    func all(_ layout: PublishingRules.Layout) -> [String] {
      folders.filter { $0.layout == layout }.map(\.folder)
    }
    var variables: [(name: String, value: String)] = []
    if let folder = all(.npm).first {
      variables.append(("npm_config_cache", folder))
      variables.append(("npm_config_prefer_offline", "true"))
      // An audit sends the list of packages to the registry at each installation.
      variables.append(("npm_config_audit", "false"))
    }
    let wheels = all(.pip)
    if !wheels.isEmpty {
      if !withheld.contains(.pip) { variables.append(("PIP_NO_INDEX", "1")) }
      variables.append(("PIP_FIND_LINKS", wheels.map(fileURL).joined(separator: " ")))
      // uv reads none of pip's variables, and has none for `--no-index`.
      if !withheld.contains(.pip), isOffline { variables.append(("UV_OFFLINE", "1")) }
      variables.append(("UV_FIND_LINKS", wheels.map(fileURL).joined(separator: ",")))
    }
    let modules = all(.go)
    if !modules.isEmpty {
      let fallback = withheld.contains(.go) ? ["direct"] : []
      variables.append(("GOPROXY", (modules.map(fileURL) + fallback).joined(separator: ",")))
    }
    if let folder = all(.bazel).first { variables.append(("BAZEL_REPOSITORY_CACHE", folder)) }
    // Cargo has no variable for a source of crates, only for the folder of the file that names it.
    if let folder = all(.cargo).first { variables.append(("CARGO_HOME", "\(folder)/.cargo")) }
    if let folder = all(.yarn).first { variables.append(("YARN_YARN_OFFLINE_MIRROR", folder)) }
    if let folder = all(.hf).first {
      variables.append(("HF_HUB_CACHE", folder))
      if !withheld.contains(.hf) { variables.append(("HF_HUB_OFFLINE", "1")) }
    }
    return variables
  }

  static func reasonForNone(
    _ layout: PublishingRules.Layout,
    after earlier: [PublishingRules.Layout]
  ) -> String? {
    switch layout {
    case .pip, .go: nil
    case .npm, .bazel, .cargo, .yarn, .hf:
      earlier.contains(layout)
        ? "\(layout.rawValue) knows one folder only, that of an earlier segment" : nil
    case .url, .basename, .hls: "no tool asks for layout `\(layout.rawValue)` by one"
    }
  }

  /// Escapes a path so that neither spaces nor commas split it.
  static func fileURL(_ path: String) -> String {
    var bytes = Array("file://".utf8)
    for byte in path.utf8 {
      if needsNoQuotes(byte), byte != UInt8(ascii: "%"), byte != UInt8(ascii: ",") {
        bytes.append(byte)
      } else {
        bytes += "%\(Hexadecimal.encode([byte]).uppercased())".utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Quotes text for any shell.
  static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(needsNoQuotes) { return text }
    var quoted = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { quoted += "'\\''" } else { quoted.unicodeScalars.append(scalar) }
    }
    return quoted + "'"
  }

  fileprivate static func needsNoQuotes(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(needsNoQuotes)
  }

  private static func needsNoQuotes(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/._-+:@%,".utf8.contains(byte)
    }
  }
}

enum VariableText: String, Hashable, Sendable, CaseIterable {
  case plain
  case sh
  case github
  case dotenv

  func line(_ name: String, _ value: String) -> String {
    switch self {
    case .plain:
      return "\(name)=\(ToolVariables.quoted(value))"
    case .sh:
      return "export \(name)=\(ToolVariables.quoted(value))"
    case .github:
      // A random delimiter keeps a value from ending early and setting another variable.
      let delimiter =
        "prefetch_\(Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: 0...255) }))"
      return "\(name)<<\(delimiter)\n\(value)\n\(delimiter)"
    case .dotenv:
      return "\(name)=\(ToolVariables.needsNoQuotes(value) ? value : Self.escaped(value))"
    }
  }

  private static func escaped(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\"", "\\", "$", "`": text += "\\\(scalar)"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
