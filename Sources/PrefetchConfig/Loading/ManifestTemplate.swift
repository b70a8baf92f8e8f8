import PrefetchCore

struct ManifestTemplate {
  private let text: String

  init(_ text: String) {
    self.text = text
  }

  func location(of name: String) throws(Diagnostic) -> ManifestLocation {
    if ShortAddress.isMeant(text) {
      guard let address = try? ShortAddress(text.replacing("{segment}", with: name)) else {
        throw Diagnostic(
          "config.bad-value",
          "the name `\(name)` cannot be part of the short address `\(text)`"
        )
      }
      return .short(address)
    }
    guard !WebAddress.isRemote(text) else {
      let address = text.replacing("{segment}", with: Self.percentEncoded(name))
      do {
        return .remote(try WebURL(address))
      } catch {
        throw Diagnostic("config.bad-url", "`\(address)` \(error)")
      }
    }
    guard !name.contains("/"), name != ".." else {
      throw Diagnostic(
        "config.bad-value",
        "the name `\(name)` cannot be part of the path of a manifest"
      )
    }
    return .local(text.replacing("{segment}", with: name))
  }

  private static func percentEncoded(_ name: String) -> String {
    var text = ""
    for byte in name.utf8 {
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      if isLetter || ASCII.isDigit(byte) || "-._~".utf8.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%\(Hexadecimal.encode([byte]).uppercased())"
      }
    }
    return text
  }
}

extension Configuration {
  /// Returns the segment of a name that no file declares; nil without a template.
  package func templatedSegment(named name: String) -> Segment? {
    guard let manifests, let location = try? ManifestTemplate(manifests).location(of: name) else {
      return nil
    }
    var segment = defaults
    segment.declaration.name = name
    segment.manifest = location
    return segment
  }
}
