import Testing

/// Every key of the configuration must be read by code that acts on it.
@Suite("The keys of the configuration") struct ConfigurationKeysTests {
  private static let folder = "Sources/PrefetchConfig/Configuration/"

  /// A key and the property that stores its value.
  private struct Key {
    var file: String
    var name: String
    var property: String
  }

  @Test("Each key of the configuration is read outside of its declaration")
  func areInEffect() {
    let texts = Repository.swiftFiles(below: "Sources").map {
      (name: $0, text: String(decoding: Repository.text(of: $0), as: UTF8.self))
    }
    let keys = texts.filter { $0.name.hasPrefix(Self.folder) }.flatMap(keys)
    #expect(keys.count > 150)
    let mentioned = Set(texts.flatMap { mentions(in: $0.text) })
    #expect(
      keys.filter { !mentioned.contains($0.property) }.map { "\($0.file): `\($0.name)`" } == []
    )
  }

  private func keys(in file: (name: String, text: String)) -> [Key] {
    file.text.matches(of: /Field\(\s*"(\w+)",\s*\\\.(\w+)/).map {
      Key(file: file.name, name: String($0.1), property: String($0.2))
    }
  }

  /// Returns the properties that code uses, except in lines that declare keys.
  private func mentions(in text: String) -> [String] {
    text.split(separator: "\n").flatMap { line -> [String] in
      let line = line.drop { $0 == " " }
      let declares =
        line.contains("Field(") || line.hasPrefix("package var ")
        || (line.hasPrefix("\\.") && line.hasSuffix(","))
      guard !declares else { return [] }
      return line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }
  }
}
