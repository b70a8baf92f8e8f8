import PrefetchCore
import PrefetchServe

/// The options of `serve`.
struct ServeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// The folder to serve; the parser sees to it that it is given.
  var origin: String?
  var listen = ListenAddress.standard
  var readyDescriptor: Int?
  var lifetime: Duration?

  static let command = CommandSpec<ServeOptions>(
    name: "serve",
    group: .content,
    summary: "Serve a folder over HTTP on this machine",
    paragraphs: [
      "GET and HEAD with ranges and conditional requests, and no listings: an origin for tests, examples and local tools. When it accepts connections, one line with its URL goes to standard output.",
      "SIGTERM ends it within two seconds. Requests with a foreign `Host` or `Origin` are refused, so that no web page can reach it.",
    ],
    options: [
      .value(
        "origin",
        \.origin,
        .directory,
        placeholder: "DIR",
        help: "Serve this folder and nothing else"
      ),
      .choice(
        "listen",
        \.listen,
        .listenAddress,
        placeholder: "A:P",
        help: "Listen on this address and port instead of `127.0.0.1:7733`; port 0 takes a free one"
      ),
      .value(
        "ready-fd",
        \.readyDescriptor,
        .number(1...1_048_575),
        placeholder: "N",
        help: "Write the line with the URL to this descriptor too, and close it"
      ),
      .value("for", \.lifetime, .duration, placeholder: "D", help: "End with 0 after this time"),
    ],
    exits: [.ok, .interrupted, .terminated],
    examples: [
      CommandExample(
        command: "prefetch serve --origin ./www --listen 127.0.0.1:0",
        purpose: "Serve a folder on a free port"
      )
    ],
    validate: { options in
      guard options.origin == nil else { return [] }
      return [Diagnostic("usage.missing-option", "`serve` needs `--origin DIR`")]
    },
    initial: ServeOptions(),
    wrap: { .serve($0) }
  )
}

extension ValueKind where Value == ListenAddress {
  fileprivate static var listenAddress: Self {
    Self(
      expectation: "an address and a port such as `127.0.0.1:7733`, `[::1]:0` or `localhost:8080`"
    ) {
      ListenAddress($0)
    }
  }
}
