import PrefetchCore

struct ControlOptions: CommandOptions, Hashable {
  enum Action: String, Hashable, Sendable {
    case pause
    case resume
    case lock
    case unlock
    case remove = "rm"

    var needsBody: Bool {
      switch self {
      case .pause, .resume: false
      case .lock, .unlock, .remove: true
      }
    }
  }

  var shared = SharedOptions()
  var items: [String] = []
  var provider: String?
  var lifetime: Duration?
  var process: Int?
  var keepsRecord = false
  var keepsThumbnail = false

  static let pauseCommand = command(
    .pause,
    "Have runs leave items alone",
    [
      "A paused item is neither asked for nor removed as unwanted by its segment's list until `resume`, or until `get` asks for it. Its body, where there is one, stays and serves. It changes nothing for its segment and for the exit status of a run, which names it as deferred where it has no body. Items that are declared may be paused before they were ever fetched. A run that is transferring one stops it within a second, and keeps the part for later."
    ],
    examples: [
      "prefetch pause https://example.org/season-2.mp4": "Keep tonight's run from fetching a file",
      "prefetch pause --provider harbour-tv ep41 ep42":
        "Keep two episodes away, by the names that the catalogue has for them",
    ]
  )

  static let resumeCommand = command(
    .resume,
    "Let runs fetch paused items again",
    ["The next run looks at them as at any other."],
    examples: [
      "prefetch resume https://example.org/season-2.mp4": "Have the next run fetch a file again",
      "prefetch resume harbour-tv/ep41": "Let one of two episodes come after all",
    ]
  )

  static let lockCommand = command(
    .lock,
    "Protect stored items from removal and eviction",
    [
      "A locked item stays in the cache, whatever its manifest, its age, `cache.size`, `gc` or `rm` say, until it is unlocked, the time of `--for` is over, or the process of `--pid` has ended. Each process has a lock of its own; a run may still replace the body by a newer one. An item in flight may be locked before it is stored."
    ],
    options: [
      .value("for", \.lifetime, .duration).help("Unlock by itself after this time"),
      .value("pid", \.process, .number(1...0x3fff_ffff))
        .help("Unlock by itself when this process of this machine has ended"),
    ],
    examples: [
      "prefetch lock --for 2h https://example.org/film.mp4": "Keep a film while it is watched",
      "prefetch lock --pid 4711 harbour-tv/ep41": "Keep an episode for as long as a player runs",
    ]
  )

  static let unlockCommand = command(
    .unlock,
    "Take back locks",
    ["All locks of an item go, or with `--pid` the one of that process."],
    options: [
      .value("pid", \.process, .number(1...0x3fff_ffff))
        .help("Take back only the lock of this process")
    ],
    examples: [
      "prefetch unlock https://example.org/film.mp4": "Let a film go that was watched",
      "prefetch unlock --pid 4711 harbour-tv/ep41":
        "Take back the lock of one player, and leave those of others",
    ]
  )

  static let removeCommand = command(
    .remove,
    "Remove items from the cache",
    [
      "What a segment declares comes back with the next run, and the command says so; `pause` keeps it away, and an item that is paused stays so. Thumbnails that belong to nothing else go with their items. A locked item is not removed (3). A run that is transferring the item stops within a second, deletes the part, and does not fetch it again."
    ],
    options: [
      .flag("files-only", \.keepsRecord)
        .help("Remove the bodies and keep what else is known of the items"),
      .flag("keep-thumbnail", \.keepsThumbnail).help("Keep the thumbnails of the items"),
    ],
    exits: [.incomplete],
    examples: [
      "prefetch rm --files-only https://example.org/film.mp4": "Give back the space of a film",
      "prefetch rm harbour-tv/ep41 --keep-thumbnail":
        "Remove an episode, and leave its picture in the catalogue",
    ]
  )

  private static func command(
    _ action: Action,
    _ summary: String,
    _ paragraphs: [String],
    options: [OptionSpec<ControlOptions>] = [],
    exits: [ExitStatus] = [],
    examples: KeyValuePairs<String, String>
  ) -> CommandSpec<ControlOptions> {
    CommandSpec<ControlOptions>(
      name: action.rawValue,
      group: .items,
      summary: summary,
      paragraphs: [
        "An item is named by its URL, its id or `PROVIDER/ID`, or with `--provider` by its id. One that is \(action.needsBody ? "not in the cache" : "neither stored nor declared") ends the command with 4, and nothing is done to any."
      ] + paragraphs,
      options: [
        .value("provider", \.provider, .text.called("P"))
          .help("The provider of the items, which are then named by their ids")
      ] + options,
      operands: .some("ITEM", \.items, completion: .items),
      exits: [.ok, .nothing, .config] + exits,
      examples: examples,
      makeCommand: { ControlCommand(context: $0, options: $1, action: action) }
    )
  }
}

struct WithLockOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Operands: an item, then a program and its arguments.
  var words: [String] = []

  static let command = CommandSpec<WithLockOptions>(
    name: "with-lock",
    group: .items,
    summary: "Run a program while an item is locked",
    paragraphs: [
      "The item is locked as by `lock --pid`, the program is started with all that was given to `prefetch`, and its exit status is the command's; one that a signal ended is 128 and the signal. An id or `PROVIDER/ID` of which nothing is stored is fetched first, as `get` fetches it; a URL is not. Where the item cannot be had, nothing is started."
    ],
    forms: ["ITEM -- CMD…"],
    operands: .some("WORD", \.words),
    exits: [.ok, .nothing, .trust, .unavailable, .deferred, .denied, .config],
    examples: [
      "prefetch with-lock films/42 -- mpv \"$(prefetch path films/42)\"":
        "Keep a film for as long as it is watched",
      "prefetch with-lock maps/alps -- ./copy-to-stick":
        "Let nothing of a map go while a script copies it",
    ],
    refusesJSON: true,
    validate: {
      $0.words.count > 1
        ? []
        : [
          Diagnostic("usage.missing-operand", "`with-lock` needs an ITEM, then `--` and a program")
        ]
    },
    makeCommand: { WithLockCommand(context: $0, options: $1) }
  )
}

struct ImportOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Path of the file; empty for `--cache`.
  var file = ""
  /// Cache of another machine.
  var folder: String?
  var url: DeclaredURL?
  var provider: String?
  var id: String?
  var type: String?

  static let command = CommandSpec<ImportOptions>(
    name: "import",
    group: .items,
    summary: "Store a file as the body of a URL, or all items of another cache",
    paragraphs: [
      "The file is hashed and stored as the body of the URL, with the time of the file. A run that declares the URL keeps it under its digest or `ttl`; otherwise one `HEAD` request has to state the same length and `Last-Modified`. The file itself stays as it is.",
      "`--cache DIR` takes the items of another cache, such as one on a stick or one that `export` wrote, streams included. Each body is hashed, nothing is written in DIR, and an item whose body is damaged or missing is named and left out (3). An item that this cache knows with a newer body stays as it is. The items belong to no segment until a run declares their URLs and has their servers confirm them.",
    ],
    forms: ["FILE --url URL", "--cache DIR"],
    options: [
      .value("cache", \.folder, .directory)
        .help("Take the items of the cache in DIR"),
      .value("url", \.url, .url).help("Whose body the file is"),
      .value("provider", \.provider, .text.called("P")).help("The provider of the item"),
      .value("id", \.id, .text.called("ID")).help("The id of the item; else made from the URL"),
      .value("type", \.type, .text.called("TYPE"))
        .help("What it is, such as `video` or `image`; else `file`"),
    ],
    operands: .optional("FILE", \.file, .text),
    exits: [.ok, .incomplete, .nothing, .trust, .config],
    examples: [
      "prefetch import --cache /media/stick/prefetch":
        "Take what another machine has fetched",
      "prefetch import film.mp4 --url https://example.org/film.mp4":
        "Take a film from another disk instead of the network",
      "prefetch import ep41.mp4 --url https://example.org/ep41.mp4 --provider harbour-tv --id ep41":
        "Store an episode that a catalogue names",
    ],
    validate: {
      guard $0.folder == nil else {
        let isAlone =
          $0.file.isEmpty && $0.url == nil && $0.provider == nil && $0.id == nil && $0.type == nil
        let text = "`--cache DIR` takes no FILE and no other option: its items have their URLs"
        return isAlone ? [] : [Diagnostic("usage.conflict", text)]
      }
      guard !$0.file.isEmpty else {
        return [Diagnostic("usage.missing-operand", "`import` needs a FILE, or `--cache DIR`")]
      }
      return $0.url == nil
        ? [Diagnostic("usage.missing-option", "`import` needs `--url URL`")] : []
    },
    makeCommand: { ImportCommand(context: $0, options: $1) }
  )
}
