/// A segment under way.
struct SegmentWork: Sendable {
  enum Phase: Hashable, Sendable {
    /// The manifest is asked for or being read.
    case discovering
    /// Its items are known.
    case planned
    case settled
  }

  var declaration: SegmentDeclaration
  let key: SegmentKey
  /// As the last run left it.
  var recorded: SegmentRecord?
  var phase = Phase.discovering
  var manifest: ManifestResult
  /// What the next run will find recorded, once the manifest is accepted.
  var accepted: SegmentRecord?
  /// A manifest body that still waits to be judged.
  var staged: StagedBody?
  var openItems = 0
  var leaving: [String] = []
  var declaredCount = 0
  var usableCount = 0
  var hasFailures = false
  var deferral: Deferral?

  var priority: Int? {
    declaration.priority ?? accepted?.priority
  }
}

/// An item under way; one for each URL, however many segments name it.
struct ItemWork: Sendable {
  enum State: Hashable, Sendable {
    case queued
    case inFlight(TransferID)
    /// Between two attempts.
    case waiting(until: Duration)
    /// Its change is decided and not yet durable.
    case committing
    case settled
  }

  var planned: PlannedItem
  var segments: [Int]
  var state = State.queued
  var exchange: Exchange?
  var result: ItemResult
  /// Digests of every segment that names it, all of which must hold.
  var entry: ManifestEntry
}

/// What a job number means.
enum Job: Hashable, Sendable {
  case manifest(segment: Int)
  case item(Int)
}

/// A small, seedable source of jitter (SplitMix64), so that runs can be replayed.
struct Jitter: Sendable {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// In 0..<1.
  mutating func next() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}
