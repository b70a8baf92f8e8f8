import PrefetchCore

struct NetworkOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<NetworkOptions>(
    name: "network",
    group: .machines,
    summary: "Print the state of the network, and what the rules allow",
    paragraphs: [
      "Prints the kind of network, whether it costs by volume, power, quality, the use of each limit, and for each segment whether it may be transferred now, and why or why not. No server is asked."
    ],
    options: [],
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch network": "See why a run waits",
      "prefetch network --network cellular,metered": "What the rules would allow on such a network",
    ],
    makeCommand: { NetworkCommand(context: $0, options: $1) }
  )
}
