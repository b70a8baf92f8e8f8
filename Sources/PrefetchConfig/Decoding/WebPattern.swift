import PrefetchCore

/// Regular expressions of hosts, URLs and headers; they cannot hold IDNA's tables.
extension Pattern {
  private static let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
  private static let version4 = "\(octet)(?:\\.\(octet)){3}"

  private static func version6(_ digits: String) -> String {
    let group = "[\(digits)]{1,4}"
    return any(of: [
      "(?:\(group):){7}\(group)", "::(?:\(group)(?::\(group)){0,6})?",
      "\(group)(?::\(group)){0,6}::",
      "(?!(?:[^:\\]]*:){8})\(group)(?::\(group)){0,5}::\(group)(?::\(group)){0,5}",
      "(?:\(group):){6}\(version4)",
      "(?:\(group)(?::\(group)){0,4})?::(?:\(group):){0,5}\(version4)",
    ])
  }

  private static let smallVersion6 = version6("0-9a-f")
  private static let port = integers(1...65535)

  // MARK: Hosts as keys

  /// A lower-case name whose last label is not a number.
  private static let name: String = {
    let label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
    return "(?:\(label)\\.)*(?![0-9]+(?:$|:))\(label)"
  }()

  private static let international =
    "(?=[^:]*[^\\u0000-\\u007f])[^\\u0000-,/:-^`{-\\u007f]*[^\\u0000-.:-^`{-\\u007f]"

  static let host = any(of: [name, international, version4, smallVersion6])

  static let hostOrRange = any(of: [
    host, "\(version4)/\(integers(0...32))", "\(smallVersion6)/\(integers(0...128))",
  ])

  static let hostAndPort = any(of: [
    smallVersion6,
    "(?:\(name)|\(international)|\(version4)|\\[\(smallVersion6)\\])(?::\(port))?",
  ])

  static let hostPattern = any(of: [
    host,
    "(?=[^*]*\\*)(?![0-9.]*$)[a-z0-9_*](?:[a-z0-9_.*-]*[a-z0-9_*])?",
  ])

  // MARK: URLs

  private static let target = "(?:[/?#][^\(control)\\\\]*)?"

  /// The part of a URL after `//`; `more` is an additional alternative within labels.
  private static func authority(_ more: String = "") -> String {
    let character = "[A-Za-z0-9_~-]|[^\\u0000-\\u007f]\(more)"
    let label = "(?:\(character)){1,63}"
    let number = "(?:[0-9]+|0[xX][^./?#:]*)"
    let named =
      "(?!(?:[^/?#:]*\\.)?\(number)\\.?(?:[:/?# \\t\\n\\r]|$))\(label)(?:\\.\(label))*\\.?"
    return "(?:\(version4)|\(named)|\\[\(version6("0-9A-Fa-f"))\\])(?::(?:\(port))?)?"
  }

  private static func url(_ authority: String) -> String {
    "[ \\t\\n\\r]*[Hh][Tt][Tt][Pp][Ss]?://\(authority)\(target)[ \\t\\n\\r]*"
  }

  static let url = url(authority())

  static let reference: String = {
    let relative = "(?!//)(?![A-Za-z][A-Za-z0-9+.-]*:)[^\(control)\\\\]*"
    return any(of: [
      url, "[ \\t\\n\\r]*(?://\(authority())\(target)|\(relative))[ \\t\\n\\r]*",
    ])
  }()

  /// A URL, a short address or a path; text with `://` is not a path.
  static let location = any(of: [url, shortAddress(), path])

  private static let path = "(?!(?:github|gitlab|forgejo|hf):)(?![\\s\\S]*://)[\\s\\S]+"

  /// A short address; `part` may stand for a name or within one.
  private static func shortAddress(_ part: String = "") -> String {
    let letter = "(?:[-._A-Za-z0-9]\(part))"
    let name = "(?!\\.{1,2}(?:[/@]|$))\(letter)+"
    let tag = "(?:@[^\\u0000-\\u0020\\u007F]+)?"
    let component = "(?!\\.{1,2}(?:/|$))[^\\u0000-\\u0020\\u007F/]+"
    let revision = "(?:@\(component)(?:/\(component))*)?"
    return any(of: [
      "github:\(name)/\(name)\(tag)", "gitlab:\(name)(?:/\(name))+\(tag)",
      "forgejo:\(authority(part))/\(name)/\(name)\(tag)",
      "hf:(?:(?:datasets|spaces)/)?(?!(?:models|datasets|spaces)/)\(name)/\(name)\(revision)",
    ])
  }

  static let template =
    "(?=[\\s\\S]*\\{segment\\})"
    + any(of: [url(authority("|\\{segment\\}")), shortAddress("|\\{segment\\}"), path])

  static let proxy: String = {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let scheme = any(of: schemes.map(anyCase))
    return any(of: [
      "env", "none", "direct", "",
      "\(scheme)://(?:[\\s\\S]*@)?\(authority())/?(?:#[^\(control)\\\\]*)?[ \\t\\n\\r]*",
    ])
  }()

  static let relativePath: String = {
    let part = "(?!\\.{1,2}(?:/|$))[^/\\\\\(control)]+"
    return "\(part)(?:/\(part))*"
  }()

  // MARK: Headers

  static let token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
  static let mediaType = "\(token)/\(token)"
}
