internal import Glibc
internal import Synchronization

/// An open file for one response, closed unless the library takes it over.
package final class ServedDescriptor: Sendable {
  private let number: Atomic<Int32>

  package init(owning number: Int32) {
    self.number = Atomic(number)
  }

  deinit {
    let number = detach()
    if number >= 0 { close(number) }
  }

  func detach() -> Int32 {
    number.exchange(-1, ordering: .relaxed)
  }
}
