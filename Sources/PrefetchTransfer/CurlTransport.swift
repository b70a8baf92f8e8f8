internal import CCurl
package import PrefetchCore

/// Transfers by libcurl, all of them on the caller's thread.
///
/// It shares nothing with any other instance, so several may run side by side, each on a thread of
/// its own.
package final class CurlTransport: Transport {
  private struct Running {
    let handle: EasyHandle
    let exchange: WireExchange
    var watch: TransferWatch
  }

  /// libcurl 7 may sleep on data that it has read already for another stream of a connection.
  private static let multiplexedWait: Duration = .milliseconds(10)
  private static let idleHandleLimit = 64

  private let settings: TransportSettings
  private let staging: any BodyStaging
  private let clock: any Clock
  private let longestWait: Duration
  private let library = LibraryVersion()
  private let multi: MultiHandle
  private var idleHandles: [EasyHandle] = []
  private var running: [TransferID: Running] = [:]
  private var identifiers: [UInt: TransferID] = [:]
  private var events: [TransferEvent] = []
  private var nextInspection: Duration = .zero

  /// Makes a transport for one thread; `clock` is the one whose uptime the deadlines mean.
  ///
  /// After `longestWait` a `wait` returns in any case, so that a caller sees in time what only its
  /// own flags tell.
  package init(
    settings: TransportSettings,
    staging: any BodyStaging,
    clock: any Clock,
    longestWait: Duration = .milliseconds(100)
  ) throws(Failure) {
    self.settings = settings
    self.staging = staging
    self.clock = clock
    self.longestWait = longestWait
    multi = try MultiHandle()
    try multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHost)
    try multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, 8 * settings.connectionsPerHost)
  }

  deinit {
    for transfer in running.values {
      multi.remove(transfer.handle)
      _ = transfer.exchange.breakOff(Failure(.cancelled, "the run ended"))
    }
  }

  // MARK: Transport

  package func start(_ request: TransferRequest) {
    let exchange = WireExchange(request, staging: staging)
    do throws(Failure) {
      let handle = try takeHandle()
      try handle.prepare(exchange, settings: settings, library: library)
      try multi.add(handle)
      let watch = TransferWatch(settings: settings, now: clock.now().uptime)
      running[request.id] = Running(handle: handle, exchange: exchange, watch: watch)
      identifiers[handle.identity] = request.id
    } catch {
      events.append(
        .finished(request.id, TransferResult(.failure(error), figures: TransferFigures()))
      )
    }
  }

  package func cancel(_ id: TransferID) {
    guard let transfer = running[id] else { return }
    let host = transfer.exchange.request.url.authority
    let failure = Failure(.cancelled, "the transfer from `\(host)` was cancelled")
    settle(id, transfer, transfer.exchange.breakOff(failure))
  }

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    var now = clock.now().uptime
    let end = min(deadline ?? .seconds(Int64.max), now + longestWait)
    var isInterrupted = false
    while true {
      perform()
      now = clock.now().uptime
      inspect(at: now)
      guard events.isEmpty, now < end, !isInterrupted else { break }
      isInterrupted = sleep(atMost: min(end, nextInspection) - now)
    }
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  /// Ends a `wait` early, from another thread too.
  package func wake() {
    multi.wake()
  }

  // MARK: The loop

  private func takeHandle() throws(Failure) -> EasyHandle {
    if let handle = idleHandles.popLast() { return handle }
    let handle = try EasyHandle()
    try handle.prepare(settings, library: library)
    return handle
  }

  private func perform() {
    do throws(Failure) {
      try multi.perform()
    } catch {
      return failAll(error)
    }
    while let completion = multi.nextCompletion() {
      guard let id = unsafe identifiers[UInt(bitPattern: completion.handle)],
        let transfer = running[id]
      else { continue }
      finish(id, transfer, completion.result)
    }
  }

  /// Whether something other than a socket or the time ended the sleep: `wake` or a signal.
  private func sleep(atMost limit: Duration) -> Bool {
    let mayShare = running.values.contains { $0.exchange.mayShareConnection }
    let limit = max(.milliseconds(1), mayShare ? min(limit, Self.multiplexedWait) : limit)
    let begin = clock.now().uptime
    do throws(Failure) {
      let ready = try multi.poll(milliseconds: limit.milliseconds)
      // libcurl may also wake for a timer of its own, after which one empty return does no harm.
      return ready == 0 && clock.now().uptime - begin < limit
    } catch {
      failAll(error)
      return true
    }
  }

  private func inspect(at now: Duration) {
    guard now >= nextInspection else { return }
    nextInspection = now + TransferWatch.interval(settings)
    for (id, var transfer) in running.sorted(by: { $0.key < $1.key }) {
      let arrived = transfer.watch.note(transfer.exchange, at: now)
      running[id] = transfer
      if arrived > 0 {
        events.append(.progressed(id, bytes: arrived))
      }
      guard let failure = transfer.watch.overdue(transfer.exchange, at: now) else { continue }
      transfer.exchange.giveUp(failure)
      settle(id, transfer, transfer.exchange.conclude(nil))
    }
  }

  // MARK: Ends

  private func finish(_ id: TransferID, _ transfer: Running, _ result: CURLcode) {
    let exchange = transfer.exchange
    let handle = transfer.handle
    exchange.wireSize = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
    guard result != CURLE_OK else {
      return settle(id, transfer, exchange.conclude(nil))
    }
    let fault = CurlFault(
      code: result,
      phase: exchange.phase,
      detail: handle.lastError,
      systemError: handle.number(CURLINFO_OS_ERRNO),
      proxyStatus: handle.number(CURLINFO_HTTP_CONNECTCODE)
    )
    let failure = fault.failure(for: exchange.request.url, settings: settings)
    settle(id, transfer, exchange.conclude(failure))
  }

  private func settle(
    _ id: TransferID,
    _ transfer: Running,
    _ result: TransferResult
  ) {
    var result = result
    result.figures = transfer.handle.figures(httpVersion: transfer.exchange.head?.version)
    events.append(.finished(id, result))
    multi.remove(transfer.handle)
    running[id] = nil
    identifiers[transfer.handle.identity] = nil
    if idleHandles.count < Self.idleHandleLimit {
      idleHandles.append(transfer.handle)
    }
  }

  private func failAll(_ failure: Failure) {
    for (id, transfer) in running.sorted(by: { $0.key < $1.key }) {
      settle(id, transfer, transfer.exchange.breakOff(failure))
    }
  }
}
