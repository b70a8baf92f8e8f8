internal import PrefetchCore

/// Messages from one thread to another, in order, handed over by the batch.
///
/// The sender rings only when the receiver said that it goes to sleep, so a busy receiver costs no
/// system calls. One that dozes wakes soon by itself and is rung for what is urgent only.
final class Mailbox<Message: Sendable>: Sendable {
  enum Sleep: Hashable, Sendable {
    case awake
    case dozing
    case asleep
  }

  private struct State: Sendable {
    var messages: [Message] = []
    var sleep = Sleep.awake
  }

  private let state = Locked(State())
  let bell: Bell

  init() throws(Failure) {
    bell = try Bell()
  }

  /// Moves a batch over; the sender gets an empty array back.
  func post(_ batch: inout [Message], isUrgent: Bool = true) {
    guard !batch.isEmpty else { return }
    let mustRing = state.withLock { state in
      if state.messages.isEmpty {
        swap(&state.messages, &batch)
      } else {
        state.messages += batch
      }
      guard state.sleep == .asleep || (state.sleep == .dozing && isUrgent) else { return false }
      state.sleep = .awake
      return true
    }
    batch.removeAll(keepingCapacity: true)
    if mustRing { bell.ring() }
  }

  /// Moves everything that was posted into an empty array.
  func take(into batch: inout [Message]) {
    batch.removeAll(keepingCapacity: true)
    state.withLock { state in
      state.sleep = .awake
      swap(&state.messages, &batch)
    }
  }

  /// Asks to be rung for what comes from now on; false when something is there already.
  func willSleep(_ sleep: Sleep = .asleep) -> Bool {
    state.withLock { state in
      guard state.messages.isEmpty else { return false }
      state.sleep = sleep
      return true
    }
  }
}
