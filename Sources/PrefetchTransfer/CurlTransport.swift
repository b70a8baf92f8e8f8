package import PrefetchCore

/// Transport that performs requests with libcurl on worker threads.
///
/// One worker sends a request and stages its body; threads exchange values by two mailboxes.
package final class CurlTransport: Transport {
  private let clock: any Clock
  private let longestWait: Duration
  private let reports: Mailbox<WorkerReport>
  private let slots: Locked<WireSlots>
  private var workers: [Desk] = []
  private var shares: HostShares
  private var incoming: [WorkerReport] = []
  private var allowances: [TransferRequest.Allowance: Locked<Int64>] = [:]

  private struct Desk {
    let orders: Mailbox<WorkerOrder>
    let thread: WorkerThread
    var pending: [WorkerOrder] = []
    /// Whether the pending orders must wake the worker.
    var isUrgent = false
  }

  /// Starts the workers; `wait` returns after `longestWait` at the latest.
  package init(
    settings: TransportSettings,
    staging: any BodyStaging & Sendable,
    clock: any Clock,
    longestWait: Duration = .milliseconds(100),
    wallTime: (@Sendable () -> Instant)? = nil
  ) throws(Failure) {
    self.clock = clock
    self.longestWait = longestWait
    reports = try Mailbox()
    let count = max(1, min(settings.workers, settings.concurrency))
    let buckets = Locked(
      RateBuckets(settings, now: Uptime.now(), wallTime: wallTime ?? Uptime.wallTime)
    )
    shares = HostShares(workers: count, connectionsPerHost: settings.connectionsPerHost)
    slots = Locked(
      WireSlots(
        limit: settings.concurrency,
        workers: count,
        connectionsPerHost: settings.connectionsPerHost,
        findsConnections: settings.findsConnections
      )
    )
    let hosts = Locked(HostRates())
    let silence = Locked(SummedSilence())
    var orders: [Mailbox<WorkerOrder>] = []
    for _ in 0..<count { orders.append(try Mailbox()) }
    for number in 0..<count {
      do throws(Failure) {
        let worker = try TransferWorker(
          number: number,
          settings: settings,
          staging: staging,
          orders: orders,
          reports: reports,
          buckets: buckets,
          slots: slots,
          hosts: hosts,
          silence: silence
        )
        workers.append(try Self.hire(worker, orders[number]))
      } catch {
        finish()
        throw error
      }
    }
  }

  deinit {
    finish()
  }

  private static func hire(
    _ worker: sending TransferWorker,
    _ orders: Mailbox<WorkerOrder>
  ) throws(Failure) -> Desk {
    let body = {
      var worker = worker
      worker.run()
    }
    guard let thread = WorkerThread(body) else {
      throw Failure(.internal, "no thread left for transfers")
    }
    return Desk(orders: orders, thread: thread)
  }

  /// Ends the threads; drops transfers in flight and keeps parts that can be continued.
  package func finish() {
    for index in workers.indices {
      workers[index].pending.append(.stop)
      workers[index].isUrgent = true
    }
    flush()
    for worker in workers {
      worker.thread.join()
    }
    workers = []
  }

  // MARK: Transport

  package func start(_ request: TransferRequest) {
    let assignment = shares.assign(request.url)
    guard workers.indices.contains(assignment.worker) else { return }
    let queued = QueuedRequest(request, assignment, allowances: request.allowances.map(counter))
    workers[assignment.worker].pending.append(.start(queued))
    if assignment.isUrgent { workers[assignment.worker].isUrgent = true }
  }

  package func start(_ id: TransferID, _ order: Order) {
    let assignment = shares.assign(order.terms.request.url)
    guard workers.indices.contains(assignment.worker) else { return }
    workers[assignment.worker].pending.append(.order(id, order, assignment))
    if assignment.isUrgent { workers[assignment.worker].isUrgent = true }
  }

  /// Removes all allowances; the next run numbers its own from the start.
  package func forgetAllowances() {
    allowances = [:]
  }

  private func counter(of allowance: TransferRequest.Allowance) -> Locked<Int64> {
    if let counter = allowances[allowance] { return counter }
    let counter = Locked(allowance.bytes)
    allowances[allowance] = counter
    return counter
  }

  package func cancel(_ id: TransferID) {
    sendToAll(.cancel(id))
  }

  package func interrupt(_ id: TransferID) {
    sendToAll(.interrupt(id))
  }

  private func sendToAll(_ order: WorkerOrder) {
    // Cancelling is rare, so all workers get the order.
    for index in workers.indices {
      workers[index].pending.append(order)
      workers[index].isUrgent = true
    }
  }

  package func wait(until deadline: Duration?) -> [TransferEvent] {
    flush()
    reports.drain(into: &incoming)
    if incoming.isEmpty {
      let limit = min(longestWait, (deadline ?? .seconds(Int64.max)) - clock.now().uptime)
      guard limit > .zero else { return [] }
      if reports.willSleep() { reports.bell.sleep(atMost: limit) }
      reports.drain(into: &incoming)
    }
    var events: [TransferEvent] = []
    for report in incoming {
      for end in report.ends {
        shares.release(origin: end.origin, worker: report.worker)
        if end.isTrouble { shares.recordTrouble(of: end.origin) }
      }
      for window in report.windows {
        let host = shares.authority(of: window.origin)
        events.append(.connectionsFound(host, window.limit))
      }
      // Mostly there is one report, whose array is used as it is.
      if events.isEmpty { events = report.events } else { events += report.events }
    }
    incoming.removeAll(keepingCapacity: true)
    return events
  }

  private func flush() {
    let called = workers.indices.filter { workers[$0].isUrgent }
    if called.count > 1 {
      slots.withLock { slots in
        for worker in called { slots.call(worker) }
      }
    }
    for index in workers.indices {
      workers[index].orders.post(&workers[index].pending, isUrgent: workers[index].isUrgent)
      workers[index].isUrgent = false
    }
  }
}
