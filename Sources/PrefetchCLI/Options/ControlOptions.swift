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
    "Make runs skip items",
    [
      "A run neither requests a paused item nor removes it as unwanted by its segment's list, until `resume`, or until `get` requests it. A stored body stays and serves. A paused item changes neither its segment nor the exit status of a run, which reports it as deferred if it has no body. You may pause declared items that were never fetched. A run that is transferring the item stops within a second, and keeps the part."
    ],
    examples: [
      "prefetch pause https://example.org/season-2.mp4": "Keep tonight's run from fetching a file",
      "prefetch pause --provider harbour-tv ep41 ep42":
        "Pause two episodes, by their ids in the catalogue",
    ]
  )

  static let resumeCommand = command(
    .resume,
    "Let runs fetch paused items again",
    ["The next run treats them like any other item."],
    examples: [
      "prefetch resume https://example.org/season-2.mp4": "Let the next run fetch a file again",
      "prefetch resume harbour-tv/ep41": "Let one of two episodes come after all",
    ]
  )

  static let lockCommand = command(
    .lock,
    "Protect stored items from removal and eviction",
    [
      "A locked item stays in the cache, whatever its manifest, its age, `cache.size`, `gc` or `rm` demand, until you unlock it, the time of `--for` is over, or the process of `--pid` has ended. Each process has its own lock. A run may still replace the body by a newer one. You may lock an item in flight before it is stored."
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
    "Remove locks from items",
    ["Removes all locks of an item, or with `--pid` only that of the process."],
    options: [
      .value("pid", \.process, .number(1...0x3fff_ffff))
        .help("Remove only the lock of this process")
    ],
    examples: [
      "prefetch unlock https://example.org/film.mp4": "Unlock a film after watching it",
      "prefetch unlock --pid 4711 harbour-tv/ep41":
        "Remove the lock of one player, and leave those of others",
    ]
  )

  static let removeCommand = command(
    .remove,
    "Remove items from the cache",
    [
      "If a segment declares the item, the next run fetches it again, and the command says so; `pause` prevents that, and a paused item stays paused. Thumbnails that belong to nothing else go with their items. A locked item is not removed (3). A run that is transferring the item stops within a second, deletes the part, and does not fetch it again."
    ],
    options: [
      .flag("files-only", \.keepsRecord)
        .help("Remove the bodies, and keep the records of the items"),
      .flag("keep-thumbnail", \.keepsThumbnail).help("Keep the thumbnails of the items"),
    ],
    exits: [.incomplete],
    examples: [
      "prefetch rm --files-only https://example.org/film.mp4": "Free the space of a film",
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
        "Name an item by its URL, its id or `PROVIDER/ID`, or with `--provider` by its id. If one is \(action.needsBody ? "not in the cache" : "neither stored nor declared"), the command ends with 4 and changes none."
      ] + paragraphs,
      options: [
        .value("provider", \.provider, .text.called("P"))
          .help("Provider of the items, which you then name by their ids")
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
      "Locks the item as `lock --pid` does, and starts the program with everything that `prefetch` was given. The exit status is that of the program, or 128 plus the signal that ended it. An id or `PROVIDER/ID` without a stored body is fetched first, as `get` fetches it; a URL is not. If the item cannot be fetched, nothing is started."
    ],
    forms: ["ITEM -- CMD…"],
    operands: .some("WORD", \.words),
    exits: [.ok, .nothing, .trust, .unavailable, .deferred, .denied, .config],
    examples: [
      "prefetch with-lock films/42 -- mpv \"$(prefetch path films/42)\"":
        "Keep a film for as long as it is watched",
      "prefetch with-lock maps/alps -- ./copy-to-stick":
        "Keep a map while a script copies it",
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
      "Hashes the file and stores it as the body of the URL, with the time of the file. A run that declares the URL keeps the body under its digest or `ttl`; otherwise one `HEAD` request must return the same length and `Last-Modified`. The file itself stays as it is.",
      "`--cache DIR` takes the items of another cache, such as one on a stick or one that `export` wrote, streams included. Each body is hashed, and nothing is written in DIR. An item whose body is damaged or missing is named and left out (3), and an item with a newer body in this cache stays as it is. The new items belong to no segment until a run declares their URLs and their servers confirm them.",
    ],
    forms: ["FILE --url URL", "--cache DIR"],
    options: [
      .value("cache", \.folder, .directory)
        .help("Take the items of the cache in DIR"),
      .value("url", \.url, .url).help("URL that the file is the body of"),
      .value("provider", \.provider, .text.called("P")).help("Provider of the item"),
      .value("id", \.id, .text.called("ID")).help("Id of the item, by default made from the URL"),
      .value("type", \.type, .text.called("TYPE"))
        .help("Type of the item, such as `video` or `image`; by default `file`"),
    ],
    operands: .optional("FILE", \.file, .text),
    exits: [.ok, .incomplete, .nothing, .trust, .config],
    examples: [
      "prefetch import --cache /media/stick/prefetch":
        "Take the items that another machine has fetched",
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
