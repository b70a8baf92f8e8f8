internal import Glibc

enum Background {
  private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) {
      self.body = body
    }
  }

  /// Runs the work on a new thread, or at once when the system has none left.
  static func perform(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let status = unsafe pthread_create(&thread, nil, runWork, work.toOpaque())
    guard status == 0 else {
      unsafe work.release()
      return body()
    }
    pthread_detach(thread)
  }

  fileprivate static func run(_ context: UnsafeMutableRawPointer) {
    unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
  }
}

private func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  unsafe Background.run(context)
  return nil
}
