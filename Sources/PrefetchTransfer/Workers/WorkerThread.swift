internal import Glibc

/// A POSIX thread that is joined by the caller that started it.
@safe package struct WorkerThread {
  private final class Start {
    let body: () -> Void

    init(_ body: @escaping () -> Void) {
      self.body = body
    }
  }

  private let identifier: pthread_t

  /// Nil when the system has no thread left.
  ///
  /// Signals stay with the thread that started it.
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
