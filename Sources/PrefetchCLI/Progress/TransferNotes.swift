import PrefetchCore
import PrefetchStore

/// Writes the progress of slow items to a note for other processes.
final class TransferNotes: RunObserver {
  let hearsOfEach = false
  let pauseBetweenLooks: Duration? = TransferNotes.pause
  let needsExpectations = false
  private static let pause: Duration = .milliseconds(500)
  private let cache: String
  private var due: Duration = .zero
  private var note: TransferNote?
  private var lastLook: TransferLook?
  private var isFilled = false

  init(inCache path: String) {
    cache = path
  }

  func observe(_ fact: RunFact, at now: Moment) {}

  func look(at standing: RunStanding, _ now: Moment) {
    // Other observers may look more often.
    guard due <= now.uptime else { return }
    due = now.uptime + Self.pause
    let items = items(of: standing, at: now.uptime)
    lastLook = TransferLook(standing, at: now.uptime)
    guard isFilled || !items.isEmpty else { return }
    if note == nil { note = TransferNote(inCache: cache) }
    note?.write(items)
    isFilled = !items.isEmpty
  }

  /// Sums the files of one item.
  private func items(of standing: RunStanding, at now: Duration) -> [ItemProgress] {
    var items: [ItemProgress] = []
    var places: [String: Int] = [:]
    for transfer in standing.transfers where !transfer.isDocument {
      let url = (transfer.whole?.url ?? transfer.url).string
      let rate = lastLook?.rate(of: transfer, at: now)
      if let place = places[url] {
        items[place].bytes += transfer.advance.position
        items[place].rate = rate.map { $0 + (items[place].rate ?? 0) } ?? items[place].rate
        continue
      }
      places[url] = items.count
      items.append(
        ItemProgress(
          url: url,
          segment: standing.segments[transfer.segment].name,
          bytes: (transfer.whole?.bytes ?? 0) + transfer.advance.position,
          total: transfer.whole.map(\.size) ?? transfer.advance.size,
          rate: rate
        )
      )
    }
    return items
  }
}

/// Received bytes of bodies at the last look.
struct TransferLook {
  private var arrived: [WebURL: Int64] = [:]
  private let time: Duration

  init(_ standing: RunStanding, at time: Duration) {
    self.time = time
    for transfer in standing.transfers { arrived[transfer.url] = transfer.advance.arrived }
  }

  /// Returns bytes a second since that look.
  func rate(of transfer: RunStanding.Transfer, at now: Duration) -> Int64? {
    let bytes = transfer.advance.arrived - (arrived[transfer.url] ?? 0)
    let milliseconds = (now - time).milliseconds
    guard bytes >= 0, milliseconds > 0 else { return nil }
    return Int64(clamping: Int(Double(bytes) * 1000 / Double(milliseconds)))
  }
}
