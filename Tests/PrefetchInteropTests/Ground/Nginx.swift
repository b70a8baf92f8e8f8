@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization

/// A real nginx for one test, on a loopback port of its own.
final class Nginx {
  enum Fault: Error {
    case notInstalled
    case doesNotStart(String)
  }

  /// A request as the server logged it.
  struct Request: Hashable {
    var method: String
    var target: String
    var status: Int
    var bodyBytes: Int
    var version: String
    var entityTag: String
    var modifiedSince: String
    /// Validators in the response.
    var sentEntityTag: String
    var sentModified: String
  }

  struct Options {
    /// Certificate, which together with its key enables TLS and HTTP/2.
    var certificate: String?
    var key: String?
    /// Port of 127.0.0.1 that receives every request unchanged, in place of files.
    var backend: Int?
    /// Whether each host has a folder below ``files``; a folder with `.down` gives 503.
    var servesByHost = false
    /// Whether text is gzip-encoded, without further headers about it.
    var isCoding = false
    /// Whether PUT stores a file and creates its folders.
    var acceptsFiles = false
    /// Megabytes a second for each response; nil for no limit.
    var rate: Int?
    /// Further addresses of this machine to listen on.
    var addresses: [String] = []

    init() {}
  }

  static let isInstalled = Tool.isInstalled("nginx")

  let port: Int
  /// The folder that is served.
  let files: String
  private let folder: TemporaryDirectory
  private let process: RunningProgram
  private let isSecure: Bool

  init(_ options: Options = Options()) throws {
    guard let program = Tool("nginx") else { throw Fault.notInstalled }
    let folder = try TemporaryDirectory()
    files = folder.appending("files")
    FileTree.makeFolder(files)
    self.folder = folder
    isSecure = options.certificate != nil
    var started: (port: Int, process: RunningProgram)?
    // Another process may take the free port first.
    for _ in 0..<5 where started == nil {
      let port = LoopbackPort.free()
      FileTree.write(
        Array(Self.configuration(port, folder.path, options).utf8),
        to: folder.appending("nginx.conf")
      )
      let process = try RunningProgram(
        program.path,
        ["-p", folder.path, "-c", "nginx.conf", "-e", folder.appending("error.log")],
        environment: ["PATH": "/usr/bin:/bin"],
        folder: folder.path
      )
      if LoopbackPort.waitUntilOpen(port) { started = (port, process) }
    }
    guard let started else {
      let log = FileTree.read(folder.appending("error.log")) ?? []
      throw Fault.doesNotStart(String(decoding: log, as: UTF8.self))
    }
    port = started.port
    process = started.process
  }

  func url(_ name: String) -> String {
    "\(isSecure ? "https" : "http")://127.0.0.1:\(port)/\(name)"
  }

  /// Writes a file, each in a second of its own.
  ///
  /// nginx makes validators from whole seconds and sizes, so that two versions of equal length
  /// within a second would be indistinguishable.
  func write(_ text: String, to name: String) {
    write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) {
    let path = "\(files)/\(name)"
    FileTree.write(bytes, to: path)
    let second = Self.seconds.wrappingAdd(1, ordering: .relaxed).newValue
    let times = [timespec(tv_sec: second, tv_nsec: 0), timespec(tv_sec: second, tv_nsec: 0)]
    unsafe utimensat(AT_FDCWD, path, times, 0)
  }

  private static let seconds = Atomic<Int>(1_700_000_000)

  func remove(_ name: String) {
    FileTree.remove("\(files)/\(name)")
  }

  /// Returns the requests since the last call, except this class's own.
  func drainRequests() -> [Request] {
    // The server has one thread: once it responds, all earlier requests are in the log.
    LoopbackPort.exchange(port, "GET /.sync HTTP/1.0\r\n\r\n")
    let path = folder.appending("access.log")
    let text = String(decoding: FileTree.read(path) ?? [], as: UTF8.self)
    unsafe truncate(path, 0)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 9, parts[1] != "/.sync", let status = Int(parts[2]),
        let bytes = Int(parts[3])
      else {
        return nil
      }
      return Request(
        method: parts[0],
        target: parts[1],
        status: status,
        bodyBytes: bytes,
        version: parts[4],
        entityTag: parts[5] == "-" ? "" : parts[5],
        modifiedSince: parts[6] == "-" ? "" : parts[6],
        sentEntityTag: parts[7] == "-" ? "" : parts[7],
        sentModified: parts[8] == "-" ? "" : parts[8]
      )
    }
  }

  /// All text that the server has logged, to be searched for secrets.
  var logText: String {
    ["access.log", "error.log"].map { name in
      String(decoding: FileTree.read(folder.appending(name)) ?? [], as: UTF8.self)
    }.joined()
  }

  private static func configuration(_ port: Int, _ folder: String, _ options: Options) -> String {
    var lines = [
      "listen 127.0.0.1:\(port)\(options.certificate == nil ? "" : " ssl http2");",
      "root \(folder)/files\(options.servesByHost ? "/$host" : "");",
    ]
    if options.servesByHost { lines.append("if (-f $document_root/.down) { return 503; }") }
    if let certificate = options.certificate, let key = options.key {
      lines += ["ssl_certificate \(certificate);", "ssl_certificate_key \(key);"]
    }
    for address in options.addresses {
      lines.append("listen \(address):\(port)\(options.certificate == nil ? "" : " ssl http2");")
    }
    if let rate = options.rate { lines.append("limit_rate \(rate)m;") }
    if options.acceptsFiles {
      lines += ["dav_methods PUT;", "create_full_put_path on;", "client_max_body_size 0;"]
    }
    if let backend = options.backend {
      lines +=
        [
          "proxy_pass http://127.0.0.1:\(backend);", "proxy_http_version 1.1;",
          "proxy_set_header Host $http_host;", "proxy_redirect off;", "proxy_buffer_size 64k;",
          "proxy_buffers 4 64k;", "proxy_busy_buffers_size 64k;",
        ].reduce(into: ["location / {"]) { $0.append($1) } + ["}"]
    }
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(folder)/\($0);"
    }
    let fields = [
      "$request_method", "$request_uri", "$status", "$body_bytes_sent", "$server_protocol",
      "$http_if_none_match", "$http_if_modified_since", "$sent_http_etag",
      "$sent_http_last_modified",
    ]
    return """
      daemon off;
      master_process off;
      pid \(folder)/nginx.pid;
      error_log \(folder)/error.log;
      events { worker_connections 512; }
      http {
        \(temporary.joined(separator: "\n  "))
        types { application/json json; text/plain txt; text/html html; }
        gzip \(options.isCoding ? "on" : "off");
        default_type application/octet-stream;
        keepalive_requests 1000000;
        log_format fields '\(fields.joined(separator: "\t"))';
        access_log \(folder)/access.log fields;
        server {
          \(lines.joined(separator: "\n    "))
          location = /.sync { return 204; }
        }
      }

      """
  }
}
