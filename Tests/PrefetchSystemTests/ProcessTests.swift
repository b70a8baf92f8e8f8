import Glibc
import PrefetchCore
import PrefetchSystem
import Testing

@Suite(.serialized) struct ProcessTests {
  @Test func `A full device differs from a reader that ended`() {
    let full = unsafe open("/dev/full", O_WRONLY)
    defer { close(full) }
    let output = StandardOutput(descriptor: full)
    output.write("text")
    #expect(output.flush() == .failed(errno: ENOSPC))

    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    // Unlike a pipe, a socket stays shut down even if another test's child has inherited it.
    unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
    shutdown(ends[0], Int32(SHUT_RDWR))
    defer { for end in ends { close(end) } }
    let closed = StandardOutput(descriptor: ends[1])
    closed.write("text")
    #expect(closed.flush() == .closed)
    closed.write("more")
    #expect(closed.flush() == .closed)
  }

  @Test func `Text and bytes keep their order`() {
    var ends: [Int32] = [0, 0]
    unsafe pipe(&ends)
    defer { close(ends[0]) }
    var output = StandardOutput(descriptor: ends[1])
    output.write("a")
    unsafe output.write(bytes: Array("b".utf8).span.bytes)
    print("c", to: &output)
    #expect(output.flush() == .ok)
    close(ends[1])
    var buffer = [UInt8](repeating: 0, count: 16)
    let count = unsafe read(ends[0], &buffer, buffer.count)
    #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "abc\n")
  }

  @Test func `The environment has what the process was given`() {
    let environment = ProcessEnvironment.current()
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) }
    #expect(environment.variables["PATH"] == path)
    #expect(environment.currentDirectory == FileReading.realPath("."))
    #expect(environment.homeDirectory?.hasPrefix("/") == true)
    #expect(!environment.hostName.isEmpty)
    #expect(!ProcessEnvironment.isTerminal(-1))
  }

  @Test func `The clock goes forward and knows this century`() {
    let clock = SystemClock()
    let first = clock.now()
    let second = clock.now()
    #expect(second.uptime >= first.uptime)
    #expect(first.wall > Instant(seconds: 1_700_000_000))
  }

  @Test func `A stop signal is noted and waited for`() {
    StopSignals.install()
    #expect(StopSignals.pending == nil)
    #expect(StopSignals.wait(upTo: .milliseconds(1)) == nil)
    // Worker threads block signals, so the signal must go to the process.
    kill(getpid(), SIGTERM)
    #expect(StopSignals.wait(upTo: .seconds(60)) == SIGTERM)
    #expect(StopSignals.pending == SIGTERM)
    signal(SIGTERM, SIG_DFL)
    signal(SIGINT, SIG_DFL)
  }
}
