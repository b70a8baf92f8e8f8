internal import PrefetchCore
internal import PrefetchDocuments

enum AdReader {
  static func read(
    _ document: BundleContent,
    includingExtensions: Bool
  ) throws(Failure) -> AdDocument {
    // An empty response means that the server has no ad.
    guard !document.bytes.isEmpty else { return AdDocument() }
    let receiver = AdReceiver(includingExtensions: includingExtensions)
    let name = document.url.redacted
    // Servers' templates often begin with a blank line, which XML forbids before its declaration.
    let start = beginning(of: document.bytes)
    do throws(XMLReadingFault) {
      let bytes = unsafe document.bytes.span.bytes
      try XMLRecords.read(bytes.extracting(start..<bytes.byteCount), for: receiver)
    } catch {
      let location = location(of: start + error.byte, in: document.bytes)
      guard receiver.isVAST != false else {
        throw Failure(.corrupted, "`\(name)`, \(location): \(error.message)", vast: 101)
      }
      throw Failure(.corrupted, "`\(name)`, \(location): \(error.message)", vast: 100)
    }
    if let version = receiver.strangeVersion {
      throw Failure(
        .unsupported,
        "`\(name)`: its version is `\(version.prefix(20))`; known are 2, 3 and 4",
        vast: 102
      )
    }
    guard !receiver.isOverfull else {
      throw Failure(
        .corrupted,
        "`\(name)`: it holds more than \(AdReceiver.mostAds) ads",
        vast: 101
      )
    }
    return receiver.document
  }

  private static func beginning(of bytes: [UInt8]) -> Int {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let rest = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
    return rest.firstIndex { $0 != 0x20 && !(0x09...0x0D).contains($0) } ?? 0
  }

  static func location(of byte: Int, in bytes: [UInt8]) -> String {
    let before = bytes.prefix(byte)
    let line = before.count { $0 == 0x0A } + 1
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return "line \(line), column \(before.count - start + 1)"
  }
}

private final class AdReceiver: XMLRecordReceiver {
  static let mostAds = 1_000

  private let includesExtensions: Bool
  private(set) var document = AdDocument()
  /// Whether the root element is VAST's; nil before the first element.
  private(set) var isVAST: Bool?
  private(set) var strangeVersion: String?
  private(set) var isOverfull = false

  init(includingExtensions: Bool) {
    includesExtensions = includingExtensions
  }

  func shape(of root: XMLElement) -> XMLShape? {
    isVAST = root.name == "VAST"
    guard isVAST == true else { return nil }
    if let version = root.attribute("version") {
      let major = version.prefix { $0 != "." }
      if !["2", "3", "4"].contains(major) { strangeVersion = version }
    }
    var shape = XMLShape(records: [["VAST", "Ad"]], kept: Self.kept)
    shape.open = ["Extension"]
    shape.bulky = ["HTMLResource": AdExtra.longestPage]
    return shape
  }

  /// Elements that are read: none of them reports a view, a click or an error to a server.
  private static let kept: Set<String> = [
    "InLine", "Wrapper", "AdSystem", "AdTitle", "VASTAdTagURI", "Creatives", "Creative",
    "UniversalAdId", "Linear", "Duration", "MediaFiles", "MediaFile", "VideoClicks",
    "ClickThrough", "ClosedCaptionFiles", "ClosedCaptionFile", "CompanionAds", "Companion",
    "CompanionClickThrough", "AltText", "StaticResource", "HTMLResource", "IFrameResource", "Icons",
    "Icon", "Extensions", "Extension",
  ]

  private static let picturesOfExtensions: Set<String> = ["VirtualCurrencyImage", "Image"]

  func fact(_ element: XMLElement) {}

  func record(_ element: XMLElement) -> Bool {
    guard document.ads.count < Self.mostAds else {
      isOverfull = true
      return false
    }
    guard let content = content(of: element) else { return true }
    document.ads.append(
      Ad(
        id: element.text("id"),
        sequence: element.attribute("sequence").flatMap { Int($0) },
        content: content
      )
    )
    return true
  }

  private func content(of element: XMLElement) -> Ad.Content? {
    if let inline = element["InLine"] { return .inline(self.inline(inline)) }
    guard let wrapper = element["Wrapper"], let tag = wrapper["VASTAdTagURI"], !tag.text.isEmpty
    else { return nil }
    var read = AdWrapper(tag: AdLink(text: tag.text, byte: tag.byte))
    read.mayFollowWrappers = !wrapper.denies("followAdditionalWrappers")
    read.mayBePod = !wrapper.denies("allowMultipleAds")
    read.extras = extras(of: wrapper)
    return .wrapper(read)
  }

  private func inline(_ element: XMLElement) -> InlineAd {
    var ad = InlineAd()
    ad.system = element["AdSystem"]?.text
    ad.systemVersion = element["AdSystem"]?.text("version")
    ad.title = element["AdTitle"]?.text
    ad.extras = extras(of: element)
    ad.extensions = texts(ofExtensions: element)
    for creative in element.all("Creatives", "Creative") {
      guard let linear = creative["Linear"] else { continue }
      let media = linear.all("MediaFiles", "MediaFile").compactMap(medium)
      guard ad.media.isEmpty else { break }
      ad.media = media
      ad.seconds = linear["Duration"].flatMap { Self.seconds($0.text) }
      ad.clickThrough = linear.all("VideoClicks", "ClickThrough").first { !$0.text.isEmpty }?.text
      let id = creative["UniversalAdId"]
      ad.universalID = [id?.text, id?.attribute("idValue")].compactMap(\.self).first {
        !$0.isEmpty && $0.lowercased() != "unknown"
      }
    }
    return ad
  }

  private func medium(_ element: XMLElement) -> AdMedium? {
    guard !element.text.isEmpty else { return nil }
    var medium = AdMedium(link: AdLink(text: element.text, byte: element.byte))
    // Parameters are removed; the codec stands in an attribute of its own.
    medium.type = element.text("type").map { type in
      String(type.prefix { $0 != ";" }.filter { !$0.isWhitespace }).lowercased()
    }
    let rates = [element.number("minBitrate"), element.number("maxBitrate")].compactMap(\.self)
    let mean = rates.count == 2 ? rates[0] / 2 + rates[1] / 2 : nil
    medium.bitrate = (element.number("bitrate") ?? mean).map { min($0, 1 << 40) * 1000 }
    medium.width = element.number("width")
    medium.height = element.number("height")
    medium.size = element.number("fileSize")
    medium.codec = element.text("codec")
    medium.isProgressive = (element.text("delivery") ?? "progressive").lowercased() == "progressive"
    medium.isProgram = element.text("apiFramework") != nil
    return medium
  }

  private func extras(of element: XMLElement) -> [AdExtra] {
    let creatives = element.all("Creatives", "Creative")
    var extras: [AdExtra] = []
    for companion in creatives.flatMap({ $0.all("CompanionAds", "Companion") }) {
      guard var extra = Self.card(of: companion) else { continue }
      extra.facts = companion.facts(numbers: ["width", "height"], texts: ["id", "adSlotId"])
      if let click = companion["CompanionClickThrough"]?.text, !click.isEmpty {
        extra.facts.append(("click_through", .string(click)))
      }
      if let text = companion["AltText"]?.text { extra.facts.append(("alt_text", .string(text))) }
      extras.append(extra)
    }
    for icon in creatives.flatMap({ $0.all("Linear", "Icons", "Icon") }) {
      guard let resource = Self.picture(of: icon) else { continue }
      var extra = AdExtra(kind: .icon, source: .link(resource.link), type: resource.type)
      extra.facts = icon.facts(
        numbers: ["width", "height"],
        texts: ["program", "xPosition", "yPosition", "offset", "duration"]
      )
      extras.append(extra)
    }
    let captions = creatives.flatMap {
      $0.all("Linear", "MediaFiles", "ClosedCaptionFiles", "ClosedCaptionFile")
    }
    for caption in captions where !caption.text.isEmpty {
      let link = AdLink(text: caption.text, byte: caption.byte)
      var extra = AdExtra(kind: .caption, source: .link(link), type: caption.text("type"))
      extra.facts = caption.facts(numbers: [], texts: ["language"])
      extras.append(extra)
    }
    guard includesExtensions else { return extras }
    let pictures = element.all("Extensions", "Extension").flatMap { holder in
      Self.picturesOfExtensions.sorted().flatMap { holder.all($0) }
    }
    for picture in pictures where picture.text.hasPrefix("http") {
      let link = AdLink(text: picture.text, byte: picture.byte)
      extras.append(
        AdExtra(kind: .image, source: .link(link), facts: [("name", .string(picture.name))])
      )
    }
    return extras
  }

  private static func picture(of element: XMLElement) -> (link: AdLink, type: String?)? {
    for resource in element.all("StaticResource") where !resource.text.isEmpty {
      let type = resource.text("creativeType")?.lowercased()
      guard type?.hasPrefix("image/") ?? true else { continue }
      return (AdLink(text: resource.text, byte: resource.byte), type)
    }
    return nil
  }

  /// Returns a companion's end card: a picture, else a page, inline or with an address.
  private static func card(of element: XMLElement) -> AdExtra? {
    if let picture = picture(of: element) {
      return AdExtra(kind: .companion, source: .link(picture.link), type: picture.type)
    }
    var card: AdExtra?
    for resource in element.all("HTMLResource") where resource.isCut || !resource.text.isEmpty {
      let source: AdExtra.Source
      if resource.isCut {
        source = .leftOut
      } else if isAddress(resource.text) {
        source = .link(AdLink(text: resource.text, byte: resource.byte))
      } else {
        source = .page(resource.text)
      }
      card = AdExtra(kind: .companion, source: source, type: "text/html")
      if case .leftOut = source { continue }
      return card
    }
    // A frame is not stored, because its server counts every load.
    let hasFrame = element.all("IFrameResource").contains { !$0.text.isEmpty }
    return card ?? (hasFrame ? AdExtra(kind: .companion, source: .leftOut) : nil)
  }

  private static func isAddress(_ text: String) -> Bool {
    let start = text.prefix(8).lowercased()
    return (start.hasPrefix("http://") || start.hasPrefix("https://"))
      && text.utf8.count <= WebURL.maximumLength && !text.contains(where: \.isWhitespace)
  }

  /// Returns the texts of extensions except those with addresses, which players would request.
  private func texts(ofExtensions element: XMLElement) -> [(String, String)] {
    var texts: [(String, String)] = []
    var seen: Set<String> = []
    var rest = Array(element.all("Extensions", "Extension").flatMap(\.children).reversed())
    while let child = rest.popLast(), texts.count < Self.mostExtensions {
      rest += child.children.reversed()
      guard child.children.isEmpty, !child.text.isEmpty, !child.text.contains("://"),
        !child.text.hasPrefix("//"), child.text.utf8.count <= Self.longestText,
        seen.insert(child.name).inserted
      else { continue }
      texts.append((child.name, child.text))
    }
    return texts
  }

  private static let mostExtensions = 100
  private static let longestText = 4_096

  /// Parses `HH:MM:SS` with or without `.mmm`.
  private static func seconds(_ text: String) -> Double? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let hours = Int(parts[0]), let minutes = Int(parts[1]),
      let seconds = Double(parts[2]), (0..<100).contains(hours), (0..<60).contains(minutes),
      (0..<61).contains(seconds)
    else { return nil }
    return Double(hours * 3600 + minutes * 60) + seconds
  }
}

extension XMLElement {
  fileprivate func all(_ first: String, _ second: String, _ more: String...) -> [XMLElement] {
    ([second] + more).reduce(all(first)) { elements, name in elements.flatMap { $0.all(name) } }
  }

  fileprivate func text(_ attribute: String) -> String? {
    self.attribute(attribute).flatMap { $0.isEmpty ? nil : $0 }
  }

  fileprivate func number(_ attribute: String) -> Int64? {
    self.attribute(attribute).flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }

  fileprivate func denies(_ attribute: String) -> Bool {
    ["false", "0"].contains(self.attribute(attribute)?.lowercased())
  }

  fileprivate func facts(numbers: [String], texts: [String]) -> [(String, JSONValue)] {
    numbers.compactMap { name in number(name).map { (name, .integer($0)) } }
      + texts.compactMap { name in text(name).map { (Self.key(name), .string($0)) } }
  }

  private static func key(_ name: String) -> String {
    switch name {
    case "xPosition": "x"
    case "yPosition": "y"
    case "adSlotId": "slot"
    default: name
    }
  }
}
