import Glibc
import PrefetchCore
import PrefetchServe
import PrefetchTestSupport
import Testing

/// A folder with some files and a link that leads outside, removed with the test.
private final class ExampleFolder {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    unsafe mkdir(path + "/root", 0o755)
    unsafe mkdir(path + "/root/sub", 0o755)
    write("secret", to: "outside.txt")
    write("0123456789", to: "root/ten.txt")
    write("{}", to: "root/a b.json")
    write("", to: "root/empty.bin")
    write("hidden", to: "root/.hidden")
    write("home", to: "root/index.html")
    write("deep", to: "root/sub/deep.ts")
    unsafe symlink("../outside.txt", path + "/root/leak.txt")
    unsafe symlink("/etc/passwd", path + "/root/absolute.txt")
    unsafe symlink("..", path + "/root/up")
    unsafe mkfifo(path + "/root/fifo", 0o644)
    // 1994-11-06T08:49:37Z
    var times = [
      timespec(tv_sec: 784_111_777, tv_nsec: 5), timespec(tv_sec: 784_111_777, tv_nsec: 5),
    ]
    unsafe utimensat(AT_FDCWD, path + "/root/ten.txt", &times, 0)
  }

  var path: String {
    folder.path
  }

  func write(_ text: String, to name: String) {
    folder.write(text, to: name)
  }
}

@Suite struct FolderServerTests {
  private let folder: ExampleFolder
  private let server: LocalServer
  private let client: RawClient

  init() throws {
    let address = try #require(ListenAddress("127.0.0.1:0"))
    folder = try ExampleFolder()
    server = try LocalServer(listen: address, responder: FolderResponder(folder.path + "/root"))
    client = try RawClient(server.address)
  }

  @Test func `A file comes with what identifies it`() throws {
    let response = try client.get("/ten.txt")
    #expect(response.status == 200)
    #expect(response.body == "0123456789")
    #expect(response.headers["content-length"] == "10")
    #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(response.headers["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(response.headers["accept-ranges"] == "bytes")
    #expect(response.headers["x-content-type-options"] == "nosniff")
    #expect(response.headers["date"] != nil)
    let etag = try #require(response.headers["etag"])
    #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.count > 8)
  }

  @Test func `HEAD is GET without a body`() throws {
    let response = try client.get("/ten.txt", ["Range: bytes=0-1"], method: "HEAD")
    #expect(response.status == 200)
    #expect(response.headers["content-length"] == "10")
    #expect(response.body == "")
  }

  @Test(
    "Names in a URL are decoded once",
    arguments: [
      ("/a%20b.json?x=1", 200), ("/", 200), ("/sub/deep.ts", 200), ("/empty.bin", 200),
      ("/%74en.txt", 200),
      ("/sub", 404), ("/sub/", 404), ("/none", 404), ("/ten.txt/x", 404), ("/fifo", 404),
      ("/ten%2etxt", 200), ("/ten%252etxt", 404),
    ]
  )
  func names(path: String, status: Int) throws {
    #expect(try client.get(path).status == status)
  }

  @Test(
    "Files outside of the folder are not served",
    arguments: [
      "/../outside.txt", "/%2e%2e/outside.txt", "/..%2foutside.txt", "/sub/../../outside.txt",
      "//ten.txt",
      "/a%00b", "/ten.txt%00", "/leak.txt", "/absolute.txt", "/up/outside.txt", "/.hidden",
      "/%2ehidden",
      "/./ten.txt", "/%", "/%zz", "/%ff", "/sub//deep.ts", "http://127.0.0.1/ten.txt",
    ]
  )
  func outside(path: String) throws {
    let response = try client.get(path)
    #expect([400, 404].contains(response.status))
    #expect(
      !response.body.contains("secret") && !response.body.contains("root:")
        && !response.body.contains("hidden")
    )
  }

  @Test(
    "A single range is served, and anything else gives the whole",
    arguments: [
      ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
      ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=-20", 206, "0123456789", "bytes 0-9/10"),
      ("bytes=5-99", 206, "56789", "bytes 5-9/10"), ("bytes=10-", 416, nil, "bytes */10"),
      ("bytes=-0", 416, nil, "bytes */10"), ("bytes=3-1", 200, "0123456789", nil),
      ("bytes=0-1,4-5", 200, "0123456789", nil), ("items=0-1", 200, "0123456789", nil),
      ("bytes=a-b", 200, "0123456789", nil), ("bytes=-", 200, "0123456789", nil),
    ] as [(String, Int, String?, String?)]
  )
  func ranges(range: String, status: Int, body: String?, contentRange: String?) throws {
    let response = try client.get("/ten.txt", ["Range: \(range)"])
    #expect(response.status == status)
    if let body { #expect(response.body == body) }
    #expect(response.headers["content-range"] == contentRange)
  }

  @Test func `An empty file has no ranges`() throws {
    #expect(try client.get("/empty.bin", ["Range: bytes=0-0"]).status == 416)
    #expect(try client.get("/empty.bin").headers["content-length"] == "0")
  }

  @Test(
    "Conditions are evaluated as RFC 9110 says",
    arguments: [
      (["If-None-Match: ETAG"], 304), (["If-None-Match: W/ETAG"], 304),
      (["If-None-Match: \"x,y\", ETAG"], 304),
      (["If-None-Match: *"], 304), (["If-None-Match: \"x\""], 200),
      (["If-None-Match: \"x\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 200),
      (["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 304),
      (["If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], 200),
      (["If-Modified-Since: yesterday"], 200),
      (["If-Match: ETAG"], 200), (["If-Match: W/ETAG"], 412), (["If-Match: \"x\""], 412),
      (["If-Match: *"], 200),
      (["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], 412),
      (["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], 200),
      (["Range: bytes=0-1", "If-Range: ETAG"], 206),
      (["Range: bytes=0-1", "If-Range: W/ETAG"], 200),
      (["Range: bytes=0-1", "If-Range: \"x\""], 200),
      (["Range: bytes=0-1", "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"], 206),
      (["Range: bytes=0-1", "If-Range: Sun, 06 Nov 1994 08:49:38 GMT"], 200),
    ] as [([String], Int)]
  )
  func conditions(headers: [String], status: Int) throws {
    let etag = try #require(try client.get("/ten.txt").headers["etag"])
    let filled = headers.map { header in
      header.hasSuffix("ETAG") ? header.dropLast(4) + etag : header
    }
    let response = try client.get("/ten.txt", filled)
    #expect(response.status == status)
    #expect(response.headers["etag"] == etag)
    if status == 304 { #expect(response.body == "") }
  }

  @Test(
    "Other methods than GET and HEAD are refused",
    arguments: ["POST", "PUT", "DELETE", "OPTIONS"]
  )
  func methods(method: String) throws {
    let response = try client.get("/ten.txt", ["Content-Length: 3", "", "abc"], method: method)
    #expect(response.status == 405)
    #expect(response.headers["allow"] == "GET, HEAD")
  }

  @Test(
    "Pages of other hosts are refused",
    arguments: [
      ("Host: evil.example", nil, 403), ("Host: evil.example:PORT", nil, 403),
      ("Host: 127.0.0.1", nil, 403),
      ("Host: 127.0.0.1:PORT", nil, 200), ("Host: localhost:PORT", nil, 200),
      ("Host: LOCALHOST:PORT", nil, 200),
      ("Host: 127.0.0.1:PORT", "Origin: https://evil.example", 403),
      ("Host: 127.0.0.1:PORT", "Origin: null", 403),
      ("Host: 127.0.0.1:PORT", "Origin: http://127.0.0.1:PORT", 200),
    ] as [(String, String?, Int)]
  )
  func foreignHosts(host: String, origin: String?, status: Int) throws {
    let headers = [host, origin].compactMap(\.self).map { header -> String in
      guard header.hasSuffix("PORT") else { return header }
      return header.dropLast(4) + String(client.port)
    }
    #expect(try client.get("/ten.txt", headers).status == status)
  }

  @Test func `A large file arrives whole`() throws {
    let text = String(repeating: "0123456789abcdef", count: 100_000)
    let path = folder.path + "/root/large.bin"
    folder.write(text, to: "root/large.bin")
    defer { unsafe unlink(path) }
    #expect(try client.get("/large.bin").body == text)
  }

  @Test func `A stopped server is gone and its port free`() throws {
    server.stop()
    #expect(throws: RawClient.Fault.self) { try client.get("/ten.txt") }
    let address = try #require(ListenAddress("127.0.0.1:\(client.port)"))
    let again = try LocalServer(listen: address, responder: FolderResponder(folder.path + "/root"))
    #expect(try client.get("/ten.txt").status == 200)
    again.stop()
  }

  @Test func `A taken port and a missing folder are faults`() throws {
    let busyAddress = try #require(ListenAddress("127.0.0.1:\(client.port)"))
    #expect(throws: Failure.self) {
      try LocalServer(listen: busyAddress, responder: FolderResponder(folder.path))
    }
    let free = try #require(ListenAddress("127.0.0.1:0"))
    #expect(throws: Failure.self) {
      try LocalServer(listen: free, responder: FolderResponder(folder.path + "/none"))
    }
  }
}

@Suite struct ListenAddressTests {
  @Test(
    "Addresses of a listener must be literal",
    arguments: [
      ("127.0.0.1:7733", "127.0.0.1:7733"), ("localhost:0", "127.0.0.1:0"), (":80", "127.0.0.1:80"),
      ("[::1]:7733", "[::1]:7733"), ("0.0.0.0:8080", "0.0.0.0:8080"), ("7733", nil),
      ("::1:7733", nil),
      ("example.org:80", nil), ("127.0.0.1:", nil), ("127.0.0.1:65536", nil), ("127.0.0.1:+1", nil),
      ("[127.0.0.1]:80", nil),
    ] as [(String, String?)]
  )
  func reading(text: String, authority: String?) {
    #expect(ListenAddress(text)?.authority == authority)
  }

  @Test func `Only loopback is loopback`() {
    #expect(ListenAddress("127.9.9.9:1")?.isLoopback == true)
    #expect(ListenAddress("[::1]:1")?.isLoopback == true)
    #expect(ListenAddress("0.0.0.0:1")?.isLoopback == false)
    #expect(ListenAddress("[::]:1")?.isLoopback == false)
  }
}
