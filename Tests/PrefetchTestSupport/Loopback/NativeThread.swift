internal import Glibc

/// A POSIX thread, joined by the caller that started it.
@safe package struct NativeThread: Sendable {
  private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  private let identifier: pthread_t

  /// Returns nil when the system cannot create another thread.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let start = unsafe Unmanaged.passRetained(Start(body))
    var identifier = pthread_t()
    let status = unsafe pthread_create(
      &identifier,
      nil,
      { @Sendable context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body()
        return nil
      },
      start.toOpaque()
    )
    guard status == 0 else {
      unsafe start.release()
      return nil
    }
    self.identifier = identifier
  }

  package func join() {
    pthread_join(identifier, nil)
  }
}
