internal import Glibc

/// A POSIX thread, joined by its creator.
@safe package struct WorkerThread {
  private final class Start {
    let body: () -> Void

    init(_ body: @escaping () -> Void) {
      self.body = body
    }
  }

  private let identifier: pthread_t

  /// Starts the thread with all signals blocked; returns nil when the system refuses.
  package init?(_ body: sending @escaping () -> Void) {
    let start = unsafe Unmanaged.passRetained(Start(body))
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var identifier = pthread_t()
    let status = unsafe pthread_create(&identifier, nil, runWorker, start.toOpaque())
    guard status == 0 else {
      unsafe start.release()
      return nil
    }
    self.identifier = identifier
  }

  package func join() {
    pthread_join(identifier, nil)
  }

  fileprivate static func run(_ context: UnsafeMutableRawPointer) {
    unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
  }
}

private func runWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe WorkerThread.run(context)
  return nil
}
