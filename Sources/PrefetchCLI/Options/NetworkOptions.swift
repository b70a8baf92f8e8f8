import PrefetchCore

struct NetworkOptions: CommandOptions, Hashable {
  var shared = SharedOptions()

  static let command = CommandSpec<NetworkOptions>(
    name: "network",
    group: .machines,
    summary: "Print what is seen of the network, and what the rules make of it",
    paragraphs: [
      "Kind of network, whether it costs by volume, power, quality, what is used of each limit, and for each segment whether it may be transferred now, and why or why not. Nothing is asked of any server."
    ],
    options: [],
    exits: [.ok, .usage, .io, .config],
    examples: [
      "prefetch network": "See why a run waits",
      "prefetch network --network cellular,metered": "What the rules would say on such a network",
    ],
    makeCommand: { NetworkCommand(context: $0, options: $1) }
  )
}
