import PrefetchCore

struct PinsOptions: CommandOptions, Hashable {
  /// Host whose keys are printed, with its port.
  struct Host: Hashable, Sendable {
    var url: WebURL

    init?(_ text: String) {
      let separators: [Character] = ["/", "?", "#", "@", "\\"]
      guard !text.isEmpty, !text.contains(where: { separators.contains($0) }),
        let url = try? WebURL("https://\(text)/")
      else { return nil }
      self.url = url
    }
  }

  var shared = SharedOptions()
  var host: Host?

  static let command = CommandSpec<PinsOptions>(
    name: "pins",
    group: .machines,
    summary: "Print the pins of a host as configuration text",
    paragraphs: [
      "Connects to the host, requests nothing, and prints the digests of the public keys in its certificate chain: under `leaf` the host's own, under `ca` those above it, each with its name and the day on which it expires. The chain is the one verified with the certificates that the configuration trusts, which may differ from what the server sent.",
      "The host shows these keys now, and to this machine. Compare them with the keys that its owner publishes before you pin them, and add the digest of a backup key. A pin with both lists holds only if both match; one list is enough for most hosts.",
    ],
    operands: .one("HOST[:PORT]", \.host, .host),
    exits: [.ok, .usage, .trust, .unavailable, .config],
    examples: [
      "prefetch pins example.org": "See which keys example.org has",
      "prefetch pins example.org:8443 >>prefetch.yaml":
        "Pin the server behind another port, then look at what was added",
    ],
    makeCommand: { PinsCommand(context: $0, options: $1) }
  )
}

extension ValueKind where Value == PinsOptions.Host? {
  fileprivate static var host: Self {
    Self(expectation: "a host and perhaps a port, such as `example.org` or `example.org:8443`") {
      PinsOptions.Host($0).map { .some($0) }
    }
  }
}
