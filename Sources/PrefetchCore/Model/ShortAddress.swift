/// Short address of a list that an API gives: `github:OWNER/REPO@TAG`, `hf:ORG/NAME@REV`.
package struct ShortAddress: Hashable, Sendable {
  package enum Service: String, Hashable, Sendable, CaseIterable {
    case github
    case gitlab
    case forgejo
    /// Hub of models, data sets and spaces.
    case hf

    /// Form of the address, for messages.
    package var form: String {
      switch self {
      case .github: "github:OWNER/REPO"
      case .gitlab: "gitlab:GROUP/PROJECT"
      case .forgejo: "forgejo:HOST/OWNER/REPO"
      case .hf: "hf:ORG/NAME"
      }
    }

    fileprivate var words: String {
      switch self {
      case .github, .gitlab, .forgejo: "names no project of a forge"
      case .hf: "names no repository of a hub"
      }
    }

    /// Form of an address that names one release or revision.
    fileprivate var formOfOne: String { "\(form)@\(self == .hf ? "REV" : "TAG")" }
  }

  /// Address that has not the form of its service.
  package struct Fault: Error, Hashable, Sendable {
    package var service: Service

    package var message: String {
      "\(service.words); write `\(service.form)` or `\(service.formOfOne)`"
    }
  }

  /// Releases in one document: as many as every forge gives.
  package static let pageSize = 50

  package let service: Service
  /// Names of the owner or the groups, then of the project.
  package let project: [String]
  /// The address as it was written.
  package let text: String
  private let standard: WebURL
  private let target: String

  /// Whether a text begins as a short address does, so that it is neither a URL nor a path.
  package static func isMeant(_ text: String) -> Bool {
    service(of: text) != nil
  }

  private static func service(of text: String) -> Service? {
    Service.allCases.first { text.hasPrefix("\($0.rawValue):") && !text.contains("://") }
  }

  /// Returns nil for a text that is not meant as a short address.
  package init?(_ text: String) throws(Fault) {
    guard let service = Self.service(of: text) else { return nil }
    let fault = Fault(service: service)
    let rest = text.dropFirst(service.rawValue.utf8.count + 1)
    let at = rest.firstIndex(of: "@")
    var names = rest[..<(at ?? rest.endIndex)]
      .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let tag = at.map { String(rest[rest.index(after: $0)...]) }
    guard tag.map(Self.isTag) ?? true else { throw fault }
    let base: WebURL?
    var kind = HubRepository.Kind.models
    switch service {
    case .github: base = try? WebURL("https://api.github.com")
    case .gitlab: base = try? WebURL("https://gitlab.com/api/v4")
    case .forgejo:
      base = try? WebURL("https://\(names.removeFirst())/api/v1")
      guard base?.path == "/api/v1", base?.query == nil else { throw fault }
    case .hf:
      base = HubRepository.standardEndpoint
      if names.count == 3, let named = HubRepository.Kind(rawValue: names[0]), named != .models {
        kind = named
        names.removeFirst()
      }
      guard HubRepository.Kind(rawValue: names[0]) == nil,
        tag.map({ TreeName.objection(to: $0, below: "") == nil }) ?? true
      else { throw fault }
    }
    let isComplete = service == .gitlab ? names.count >= 2 : names.count == 2
    guard isComplete, names.allSatisfy(Self.isName) else { throw fault }
    let target =
      service == .hf
      ? HubRepository.revisionPath(of: names, kind, tag ?? HubRepository.standardRevision)
      : Self.target(service, names, tag)
    guard let base, let url = try? WebURL(Self.join(base, target)) else { throw fault }
    self.service = service
    self.text = text
    self.target = target
    project = names
    standard = url
  }

  /// Format of the list at the address.
  package var format: ManifestFormat {
    service == .hf ? .hf : .releases
  }

  /// Returns the address of the API; `base` takes the place of the service's own.
  package func url(base: WebURL?) -> WebURL {
    base.flatMap { try? WebURL(Self.join($0, target)) } ?? standard
  }

  /// Path and query below the base of the API.
  private static func target(
    _ service: Service,
    _ project: [String],
    _ tag: String?
  ) -> String {
    let names = project.map { Hexadecimal.encodePercent($0) }
    let tag = tag.map { Hexadecimal.encodePercent($0) }
    switch service {
    case .github, .forgejo, .hf:
      let releases = "/repos/\(names.joined(separator: "/"))/releases"
      let parameter = service == .github ? "per_page" : "limit"
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
