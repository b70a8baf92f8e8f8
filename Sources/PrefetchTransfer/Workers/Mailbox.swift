internal import PrefetchCore

/// Messages from one thread to another, in order, handed over by the batch.
///
/// The sender rings only when the receiver said that it goes to sleep, so a busy receiver costs no
/// system calls.
final class Mailbox<Message: Sendable>: Sendable {
  private struct State: Sendable {
    var messages: [Message] = []
    var isReceiverAsleep = false
  }

  private let state = Locked(State())
  let bell: Bell

  init() throws(Failure) {
    bell = try Bell()
  }

  /// Moves a batch over; the sender gets an empty array back.
  func post(_ batch: inout [Message]) {
    guard !batch.isEmpty else { return }
    let mustRing = state.withLock { state in
      if state.messages.isEmpty {
        swap(&state.messages, &batch)
      } else {
        state.messages += batch
      }
      defer { state.isReceiverAsleep = false }
      return state.isReceiverAsleep
    }
    batch.removeAll(keepingCapacity: true)
    if mustRing { bell.ring() }
  }

  /// Moves everything that was posted into an empty array.
  func take(into batch: inout [Message]) {
    batch.removeAll(keepingCapacity: true)
    state.withLock { state in
      state.isReceiverAsleep = false
      swap(&state.messages, &batch)
    }
  }

  /// Asks to be rung for what comes from now on; false when something is there already.
  func willSleep() -> Bool {
    state.withLock { state in
      state.isReceiverAsleep = state.messages.isEmpty
      return state.isReceiverAsleep
    }
  }
}
