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
      Every run publishes what it brought. This command does the same from what is stored, without \
      a request, and looks at every file: a deleted file comes back, and what is not \
      prefetch's, or was changed since, stays as it is and is named. A tree of which an item is not \
      stored ends with 3: an atomic one stays as it is, any other is made without the item.
      """,
      """
      With `--rollback` the generation before the present one of an atomic tree is shown again, and \
      runs leave it so until the next `prefetch publish`.
      """,
    ],
    forms: ["[SEGMENT…]", "--rollback SEGMENT"],
    options: [
      .value("rollback", \.rolledBack, .text.called("SEGMENT").completed(by: .segments))
        .help("Let the generation before the present one of this segment's tree stand again"),
      .wait(\.wait),
    ],
    operands: .any("SEGMENT", \.segments, completion: .segments),
    exits: [
      .ok, .incomplete, .nothing, .trust, .usage, .io, .deferred, .config, .interrupted,
      .terminated,
    ],
    examples: [
      "prefetch publish": "Bring back files that were deleted from published trees",
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
