/// Rules for the imports of a target's sources.
struct ImportRules {
  struct Import: Equatable {
    var module: String
    /// Written access level; nil when there is none.
    var access: String?
    var line: Int
  }

  /// Layers: a target imports only targets of lower rows, so that adapters never import each other.
  static let rows = [
    ["prefetch"],
    ["PrefetchCLI"],
    [
      "PrefetchEngine", "PrefetchConfig", "PrefetchTransfer", "PrefetchStore", "PrefetchServe",
      "PrefetchSystem",
    ],
    ["PrefetchManifests"],
    ["PrefetchDocuments", "PrefetchCrypto"],
    ["PrefetchCore"],
  ]
  /// C libraries with the only targets that may import them.
  static let homes: [String: Set<String>] = [
    "CCurl": ["PrefetchTransfer"],
    "CYAML": ["PrefetchDocuments"],
    "CExpat": ["PrefetchDocuments"],
    "CSQLite": ["PrefetchStore"],
    "COpenSSL": ["PrefetchCrypto", "PrefetchTransfer"],
    "CZlib": ["PrefetchCrypto"],
    "CMicroHTTPD": ["PrefetchServe"],
    "CIdn": ["PrefetchCore"],
    "CRelease": ["PrefetchCLI"],
    "CLinux": ["PrefetchStore", "PrefetchSystem"],
  ]
  /// Allowed system modules: the core makes no system calls, and no target imports Foundation.
  private static let standard: [String: Set<String>?] = [
    "Swift": nil,
    "Synchronization": nil,
    "Glibc": [
      "prefetch", "PrefetchCLI", "PrefetchTransfer", "PrefetchStore", "PrefetchServe",
      "PrefetchSystem",
    ],
  ]

  /// Returns why a target must not import a module; nil when it may.
  static func objection(to module: String, from target: String) -> String? {
    if let homes = homes[module] {
      return homes.contains(target) ? nil : "`\(module)` is at home elsewhere"
    }
    if let users = standard[module] {
      return users?.contains(target) == false ? "\(target) does not speak to the system" : nil
    }
    guard let from = row(of: target), let to = row(of: module) else {
      return "nothing says what `\(module)` is to \(target)"
    }
    return from < to ? nil : "`\(module)` does not stand below \(target)"
  }

  /// Returns the violations of a file; `declared` are the dependencies of its target in the
  /// package.
  static func problems(of text: SwiftTokens, in target: String, declared: Set<String>) -> [String] {
    imports(in: text).flatMap { found -> [String] in
      var problems: [String] = []
      if let objection = objection(to: found.module, from: target) {
        problems.append(objection)
      } else if standard[found.module] == nil, !declared.contains(found.module) {
        problems.append("the package does not give `\(found.module)` to \(target)")
      }
      let isOwnTarget = row(of: found.module) != nil
      if homes[found.module] != nil, found.access != "internal" {
        problems.append("`\(found.module)` must be an `internal import`")
      }
      if found.access == "public" { problems.append("`public import \(found.module)`") }
      if found.access == "package", !isOwnTarget, homes[found.module] == nil {
        problems.append("`\(found.module)` is shown to other targets")
      }
      return problems.map { "\(found.line): \($0)" }
    }
  }

  /// Every import that a text states, in order.
  static func imports(in text: SwiftTokens) -> [Import] {
    let all = text.all
    return all.indices.compactMap { index in
      guard all[index].word == "import", index + 1 < all.count else { return nil }
      let isKind = kinds.contains(all[index + 1].word) && index + 2 < all.count
      let module = all[index + (isKind ? 2 : 1)]
      // A label or a name of a member in back quotes is no statement.
      guard !module.word.isEmpty, module.line == all[index].line else { return nil }
      let access = index > 0 ? all[index - 1].word : ""
      return Import(
        module: module.word,
        access: accesses.contains(access) ? access : nil,
        line: module.line
      )
    }
  }

  private static let accesses: Set<String> = [
    "fileprivate", "internal", "open", "package", "private", "public",
  ]
  private static let kinds: Set<String> = [
    "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
  ]

  private static func row(of target: String) -> Int? {
    rows.firstIndex { $0.contains(target) }
  }
}
