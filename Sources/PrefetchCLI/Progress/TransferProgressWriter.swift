import PrefetchCore
import PrefetchStore

/// Writes the progress of slow items to a note for other processes.
final class TransferProgressWriter: RunObserver {
  let needsEachFact = false
  let pauseBetweenLooks: Duration? = TransferProgressWriter.pause
  let needsExpectations = false
  private static let pause: Duration = .milliseconds(500)
  private let cache: String
  private var due: Duration = .zero
  private var progressFile: TransferProgressFile?
  private var lastLook: TransferLook?
  private var isFilled = false

  init(inCache path: String) {
    cache = path
  }

  func observe(_ fact: RunFact, at now: Moment) {}

  func show(_ status: RunStatus, _ now: Moment) {
    // Other observers may look more often.
    guard due <= now.uptime else { return }
    due = now.uptime + Self.pause
    let items = items(of: status, at: now.uptime)
    lastLook = TransferLook(status, at: now.uptime)
    guard isFilled || !items.isEmpty else { return }
    if progressFile == nil { progressFile = TransferProgressFile(inCache: cache) }
    progressFile?.write(items)
    isFilled = !items.isEmpty
  }

  private func items(of status: RunStatus, at now: Duration) -> [ItemProgress] {
    var items: [ItemProgress] = []
    var indices: [String: Int] = [:]
    for transfer in status.transfers where !transfer.isDocument {
      let url = (transfer.whole?.url ?? transfer.url).string
      let rate = lastLook?.rate(of: transfer, at: now)
      if let index = indices[url] {
        items[index].bytes += transfer.advance.position
        items[index].rate = rate.map { $0 + (items[index].rate ?? 0) } ?? items[index].rate
        continue
      }
      indices[url] = items.count
      items.append(
        ItemProgress(
          url: url,
          segment: status.segments[transfer.segment].name,
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

  init(_ status: RunStatus, at time: Duration) {
    self.time = time
    for transfer in status.transfers { arrived[transfer.url] = transfer.advance.arrived }
  }

  /// Returns bytes a second since that look.
  func rate(of transfer: RunStatus.Transfer, at now: Duration) -> Int64? {
    let bytes = transfer.advance.arrived - (arrived[transfer.url] ?? 0)
    let milliseconds = (now - time).milliseconds
    guard bytes >= 0, milliseconds > 0 else { return nil }
    return Int64(clamping: Int(Double(bytes) * 1000 / Double(milliseconds)))
  }
}
