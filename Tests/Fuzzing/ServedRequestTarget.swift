import Glibc
import PrefetchCore

@testable import PrefetchServe

/// Requests to the local server, as it reads their target and headers.
enum ServedRequestTarget {
  private static let body = "0123456789"

  /// Folder with one file, which the server offers.
  private static let folder: FolderResponder = {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let path = "\(parent)/prefetch-fuzz-\(getpid())"
    unsafe mkdir(path, 0o700)
    unsafe mkdir("\(path)/d", 0o700)
    if let file = unsafe fopen("\(path)/d/a.txt", "w") {
      unsafe fputs(body, file)
      unsafe fclose(file)
    }
    do throws(Failure) {
      let responder = try FolderResponder(path)
      // The responder holds the folder open, and its file answers by name no longer than this.
      atexit { ServedRequestTarget.remove() }
      return responder
    } catch {
      violated("the folder cannot be served: \(error.message)")
    }
  }()

  private static func remove() {
    let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let path = "\(parent)/prefetch-fuzz-\(getpid())"
    unsafe unlink("\(path)/d/a.txt")
    unsafe rmdir("\(path)/d")
    unsafe rmdir(path)
  }

  /// Reads a target on the first line and a header on each other line.
  static func run(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: 0x0A, maxSplits: 32, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let target = lines[0]
    let fields = lines.dropFirst().compactMap { line -> HeaderField? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return HeaderField(String(line[..<colon]), String(value))
    }
    check(target)
    let request = request(target, fields)
    check(request, answered: folder.respond(to: request))
    check(request.conditions)
    let directives = RequestDirectives(cacheControl: request.cacheControl, pragma: request.pragma)
    _ = Reuse(directives, age: .seconds(30), left: .seconds(-5))
    _ = Reuse(directives, age: .seconds(30), left: .seconds(5))
    checkGate(fields)
  }

  private static func request(_ target: String, _ fields: [HeaderField]) -> ServedRequest {
    func value(_ name: String) -> String? {
      fields.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
    }
    var request = ServedRequest(target: target)
    request.conditions = RequestConditions(
      ifMatch: value("If-Match"),
      ifNoneMatch: value("If-None-Match"),
      ifModifiedSince: value("If-Modified-Since"),
      ifUnmodifiedSince: value("If-Unmodified-Since"),
      ifRange: value("If-Range"),
      range: value("Range")
    )
    request.cacheControl = value("Cache-Control")
    request.pragma = value("Pragma")
    request.isHead = value("Method") == "HEAD"
    request.fields = ClientFields(fields)
    return request
  }

  // MARK: Rules

  private static func check(_ target: String) {
    if case .file(let name) = RequestPath(target) {
      let parts = name.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
      for part in parts {
        require(part.first != 0x2E && !part.isEmpty, "the path `\(name)` has a hidden name")
        require(part.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "`\(name)` has a control character")
      }
    }
    for base in [nil, "https://r.example/npm/"] {
      switch CacheTarget(target, below: base) {
      case .address(let address): check(address: address, base)
      case .item(let provider, let id, let name):
        require(!id.isEmpty && provider != "-", "an item without an id")
        let isClean = "\(id)\(name ?? "")".utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        require(isClean, "an item with control characters")
      case .health, .nowhere, .malformed: continue
      }
    }
    _ = EventEndpoint.isMeant(by: target)
    let access = ServeAccess(origin: "https://app.example", token: "t0ken")
    if let known = access.target(target), known.hasToken {
      require(target.hasPrefix("/-/t/t0ken"), "a wrong token is accepted")
      require(known.path.hasPrefix("/"), "the path `\(known.path)` behind a token")
    }
    _ = ListenAddress(target)
  }

  /// Checks that the URL of a target lies on the host, or below the base, that the target names.
  private static func check(address: String, _ base: String?) {
    guard let url = try? WebURL(base == nil ? "https://\(address)" : address) else { return }
    if let base {
      require(url.string.hasPrefix(base), "`\(url.string)` is not below the base")
    } else {
      let authority = address.prefix { $0 != "/" }
      require(!authority.contains("@"), "`\(address)` has user information")
    }
  }

  private static func check(_ request: ServedRequest, answered reply: Reply) {
    guard case .now(let response) = reply else { violated("a folder answers later") }
    for header in response.headers {
      let isClean = (header.name + header.value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      require(isClean, "a control character in a header of the response")
    }
    guard case .file(_, let offset, let length) = response.body else { return }
    require(
      offset >= 0 && length >= 0 && offset + length <= Int64(body.utf8.count),
      "bytes \(offset) and \(length) more of \(body.utf8.count)"
    )
    require(response.status == 200 || response.status == 206, "a body with \(response.status)")
  }

  private static func check(_ conditions: RequestConditions) {
    for size in [0, 1, 10, Int64.max] {
      let version = ServedVersion(
        etag: "\"a,b\"",
        modified: Instant(seconds: 1_795_000_000),
        size: size
      )
      if case .part(let range) = ConditionResult(to: conditions, about: version) {
        require(range.lowerBound >= 0 && range.upperBound < size, "\(range) of \(size) bytes")
      }
    }
  }

  /// Checks that a loopback server admits no host but its own.
  private static func checkGate(_ fields: [HeaderField]) {
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    let gate = RequestGate(listening: .standard)
    let (host, origin) = (value("Host"), value("Origin"))
    guard gate.admits(host: host, origin: origin, site: value("Sec-Fetch-Site")) else { return }
    let own = ["localhost:7733", "127.0.0.1:7733", "[::1]:7733"]
    require(host.map { own.contains($0.lowercased()) } ?? false, "a foreign host is admitted")
    let origins = own.map { "http://\($0)" }
    require(origin.map { origins.contains($0.lowercased()) } ?? true, "a foreign page is admitted")
  }
}
