import PrefetchCore
import PrefetchServe

struct ServeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Folder to serve instead of the cache.
  var origin: String?
  var pulls = false
  /// Folder of one server that is served at `/`.
  var base: WebURL?
  var maximumStaleness: OptionalArgument<Duration>?
  var listen = ListenAddress.standard
  var readyDescriptor: Int?
  var lifetime: Duration?
  var events: EventDestination?
  var skipsHooks = false
  var allowedOrigin: String?
  var tokenFile: String?
  var acceptsEvents = false

  static let command = CommandSpec<ServeOptions>(
    name: "serve",
    group: .everyday,
    summary: "Serve the cache, or a folder, over HTTP on this machine",
    paragraphs: [
      "The server offers `https://HOST[:PORT]/PATH?QUERY` at `/HOST[:PORT]/PATH?QUERY`, and an item also at `/-/item/PROVIDER/ID` (`-` for no provider). `/-/health` shows the server's counters. The server answers GET and HEAD, ranges and conditional requests, and has no listings. When it accepts connections, it prints one line with its URL on standard output. If systemd passes a socket, the server uses that socket and ignores `--listen`.",
      "Without `--pull` the server sends a stored body however old, and answers 404 for anything else. With `--pull` it fetches what is missing or stale, as `get` would, once for all clients that wait. It passes on a client's header only if `Vary` names it, and never credentials. If the origin does not respond or responds with 5xx, or if a rule defers the request, the client gets an older copy within `--max-stale` or `cache.max_stale`. Without such a copy it gets 502, or 503 if a rule defers the request. A 4xx of the origin is passed on. The server remembers 404 and 410 for `cache.negative_ttl`.",
      "Clients may send `Cache-Control` with `no-cache`, `max-age`, `min-fresh`, `max-stale` and `only-if-cached` (504 if that needs a server). `Age` and `Cache-Status` show where an answer came from. A damaged body is fetched again with `--pull`; otherwise the transfer is cut, so that the client sees an error. A replaced stream stays for its players until ten minutes after the last answer.",
      "A request whose `Host` is another server, with a foreign `Origin` or with `Sec-Fetch-Site: cross-site` gets 403. `--allow-origin` admits one origin. Pages opened from a file have the origin `null`; if you admit `null`, paths must begin with `/-/t/TOKEN/`. TOKEN is the first line of `--token-file` (16 characters or more). SIGTERM ends the server within two seconds.",
      "With `--events-in` a page may POST a JSON object to `/-/event`; the server records it as `event` and `event consume` would. `prefetch-report`(5) has the keys.",
    ],
    options: [
      .flag("pull", \.pulls).help("Fetch what is missing or stale"),
      .optionalValue("max-stale", \.maximumStaleness, .duration)
        .help(
          "With `--pull`: if a server does not answer, serve a copy that expired at most this long ago, or at any time"
        ),
      .value("origin", \.origin, .directory).help("Serve this folder and nothing else"),
      .value("base-url", \.base, .baseURL)
        .help("Serve the content below this URL at `/`, for tools that use one server only"),
      .choice("listen", \.listen, .listenAddress)
        .help(
          "Listen on this address and port instead of `127.0.0.1:7733`; port 0 is any free port"
        ),
      .value("allow-origin", \.allowedOrigin, .webOrigin)
        .help("Let web pages of this origin use the server; `null` is for pages without one"),
      .value("token-file", \.tokenFile, .file)
        .help("Also accept paths that begin with `/-/t/` and the token in this file"),
      .flag("events-in", \.acceptsEvents)
        .help("Record objects that pages POST to `/-/event` with the token"),
      .value("ready-fd", \.readyDescriptor, .number(1...1_048_575))
        .help("Also write the line with the URL to this descriptor, and close it"),
      .value("for", \.lifetime, .duration).help("End with 0 after this time"),
      .value("events", \.events, .eventDestination)
        .help("Write `serve.started` and `serve.stopped` to a file or an open descriptor"),
      .flag("no-hooks", \.skipsHooks).help("Start none of the configuration's `hooks`"),
    ],
    exits: [.ok, .failed, .config, .io, .interrupted, .terminated],
    examples: [
      "prefetch serve --pull --max-stale": "Mirror every URL that a client requests",
      "prefetch serve --pull --base-url https://registry.npmjs.org/": "Serve as the npm registry",
      "prefetch serve --origin ./www --listen 127.0.0.1:0": "Serve a folder on a free port",
      "prefetch serve --token-file token --allow-origin https://kiosk.example --events-in":
        "Let kiosk pages play from the cache, and record what visitors saw",
    ],
    validate: { options in
      var diagnostics: [Diagnostic] = []
      if options.origin != nil, options.base != nil {
        diagnostics.append(.exclusive("--origin", "--base-url"))
      }
      if options.origin != nil, options.pulls {
        diagnostics.append(.exclusive("--origin", "--pull"))
      }
      if options.allowedOrigin == "null", options.tokenFile == nil {
        diagnostics.append(
          "usage.missing-option",
          "`--allow-origin null` needs `--token-file`: any page can have that origin"
        )
      }
      if options.acceptsEvents, options.tokenFile == nil {
        diagnostics.append(
          "usage.missing-option",
          "`--events-in` needs `--token-file`: an event has to show the token"
        )
      }
      if options.origin != nil, options.acceptsEvents {
        diagnostics.append(.exclusive("--origin", "--events-in"))
      }
      if options.maximumStaleness != nil, !options.pulls {
        diagnostics.append(
          "usage.missing-option",
          "`--max-stale` needs `--pull`, which sends requests"
        )
      }
      return diagnostics
    },
    makeCommand: { ServeCommand(context: $0, options: $1) }
  )
}

extension ValueKind where Value == String {
  fileprivate static var webOrigin: Self {
    Self(
      expectation: "`null` or a scheme and a host such as `https://kiosk.example`",
      placeholder: "ORIGIN"
    ) { text in
      guard text != "null" else { return text }
      guard let url = try? WebURL(text + "/"), url.path == "/", url.string == text + "/" else {
        return nil
      }
      return text
    }
  }
}

extension ValueKind where Value == ListenAddress {
  fileprivate static var listenAddress: Self {
    Self(
      expectation: "an address and a port such as `127.0.0.1:7733`, `[::1]:0` or `localhost:8080`",
      placeholder: "A:P"
    ) {
      ListenAddress($0)
    }
  }
}
