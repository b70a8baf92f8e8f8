/// Short address of a project's releases, such as `github:OWNER/REPO@TAG`.
package struct ReleaseAddress: Hashable, Sendable {
  package enum Forge: String, Hashable, Sendable, CaseIterable {
    case github
    case gitlab
    case forgejo

    /// Form of the address, for messages.
    package var form: String {
      switch self {
      case .github: "github:OWNER/REPO"
      case .gitlab: "gitlab:GROUP/PROJECT"
      case .forgejo: "forgejo:HOST/OWNER/REPO"
      }
    }
  }

  /// Address that has not the form of its forge.
  package struct Fault: Error, Hashable, Sendable {
    package var forge: Forge

    package var message: String {
      "names no project of a forge; write `\(forge.form)` or `\(forge.form)@TAG`"
    }
  }

  /// Releases in one document: as many as every forge gives.
  package static let pageSize = 50

  /// Names of the owner or the groups, then of the project.
  package let project: [String]
  /// The address as it was written.
  package let text: String
  private let standard: WebURL
  private let target: String

  /// Whether a text begins as a short address does, so that it is neither a URL nor a path.
  package static func isMeant(_ text: String) -> Bool {
    forge(of: text) != nil
  }

  private static func forge(of text: String) -> Forge? {
    Forge.allCases.first { text.hasPrefix("\($0.rawValue):") && !text.contains("://") }
  }

  /// Returns nil for a text that is not meant as a short address.
  package init?(_ text: String) throws(Fault) {
    guard let forge = Self.forge(of: text) else { return nil }
    let rest = text.dropFirst(forge.rawValue.utf8.count + 1)
    let at = rest.firstIndex(of: "@")
    var names = rest[..<(at ?? rest.endIndex)]
      .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let tag = at.map { String(rest[rest.index(after: $0)...]) }
    guard tag.map(Self.isTag) ?? true else { throw Fault(forge: forge) }
    let base: WebURL?
    switch forge {
    case .github: base = try? WebURL("https://api.github.com")
    case .gitlab: base = try? WebURL("https://gitlab.com/api/v4")
    case .forgejo:
      base = try? WebURL("https://\(names.removeFirst())/api/v1")
      guard base?.path == "/api/v1", base?.query == nil else { throw Fault(forge: forge) }
    }
    let isComplete = forge == .gitlab ? names.count >= 2 : names.count == 2
    guard isComplete, names.allSatisfy(Self.isName) else { throw Fault(forge: forge) }
    let target = Self.target(forge, names, tag)
    guard let base, let url = try? WebURL(Self.join(base, target)) else {
      throw Fault(forge: forge)
    }
    self.text = text
    self.target = target
    project = names
    standard = url
  }

  /// Returns the address of the API; `base` takes the place of the forge's own.
  package func url(base: WebURL?) -> WebURL {
    base.flatMap { try? WebURL(Self.join($0, target)) } ?? standard
  }

  /// Path and query below the base of the API.
  private static func target(_ forge: Forge, _ project: [String], _ tag: String?) -> String {
    let names = project.map { Hexadecimal.encodePercent($0) }
    let tag = tag.map { Hexadecimal.encodePercent($0) }
    switch forge {
    case .github, .forgejo:
      let releases = "/repos/\(names.joined(separator: "/"))/releases"
      let parameter = forge == .github ? "per_page" : "limit"
      return tag.map { "\(releases)/tags/\($0)" } ?? "\(releases)?\(parameter)=\(pageSize)"
    case .gitlab:
      let releases = "/projects/\(names.joined(separator: "%2F"))/releases"
      return tag.map { "\(releases)/\($0)" } ?? "\(releases)?per_page=\(pageSize)"
    }
  }

  private static func join(_ base: WebURL, _ target: String) -> String {
    let text = base.string.prefix { $0 != "?" }
    return (text.hasSuffix("/") ? text.dropLast() : text) + target
  }

  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".."
      && name.utf8.allSatisfy { byte in
        ASCII.isDigit(byte) || "-._".utf8.contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      }
  }

  private static func isTag(_ tag: String) -> Bool {
    !tag.isEmpty && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}
