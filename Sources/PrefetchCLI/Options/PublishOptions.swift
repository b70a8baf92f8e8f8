import PrefetchCore

struct PublishOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  var segments: [String] = []
  var rolledBack: String?
  var wait: OptionalArgument<Duration>?

  static let command = CommandSpec<PublishOptions>(
    name: "publish",
    group: .everyday,
    summary: "Make the published trees again, or switch one back",
    paragraphs: [
      """
      Every run publishes what it brought. This command publishes stored bodies, without a request, \
      and looks at every file: a deleted file comes back, a file changed in place is replaced and \
      named by a warning (74), and a foreign file stays and is named (3). If an item of a tree is not stored, the \
      command ends with 3: an atomic tree stays as it is, any other is made without the item.
      """,
      """
      `--rollback` shows the previous generation of an atomic tree again, and runs leave it so until \
      the next `prefetch publish`.
      """,
    ],
    forms: ["[SEGMENT…]", "--rollback SEGMENT"],
    options: [
      .value("rollback", \.rolledBack, .text.called("SEGMENT").completed(by: .segments))
        .help("Show the previous generation of this segment's tree again"),
      .wait(\.wait),
    ],
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: [
      .ok, .incomplete, .nothing, .trust, .usage, .io, .deferred, .config, .interrupted,
      .terminated,
    ],
    examples: [
      "prefetch publish": "Restore files that were deleted from published trees",
      "prefetch publish --rollback site": "Show the tree as it was before the last switch",
    ],
    validate: { options in
      guard options.rolledBack != nil, !options.segments.isEmpty else { return [] }
      return [
        Diagnostic(
          "usage.conflict",
          "`--rollback` takes its one segment itself",
          hint: "say `prefetch publish --rollback SEGMENT`"
        )
      ]
    },
    makeCommand: { PublishCommand(context: $0, options: $1) }
  )
}
