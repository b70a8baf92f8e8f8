import PrefetchCore
import PrefetchEngine
import PrefetchStore
import PrefetchTransfer

/// The engine with the adapters of this machine: the one place that makes them.
struct EngineRun {
  let context: CommandContext
  let builder: RequestBuilder
  let store: any ContentStore
  /// Where the bodies of the cache, and of those below it, lie.
  let bodies: BodyPaths
  let circumstances: MachineCircumstances
  var memory = HostMemory.none
  /// Whose connections are used; nil for those of this run alone.
  var session: ItemSession?
  var stop: any StopSignal = ProcessStop()
  var files = SystemFiles()
  var trees: PublishedTrees?
  var observers: [any RunObserver] = []
  var isTraced = false
  /// Whether nothing is written, to the store of other machines either.
  var isDry = false

  func run(_ request: RunRequest) throws(Failure) -> Report {
    var settings = builder.transportSettings()
    memory.apply(to: &settings)
    settings.isTraced = isTraced
    let make = { [settings] () throws(Failure) in
      try CurlTransport(settings: settings, staging: store.staging, clock: context.clock)
    }
    let transport = if let session { try session.transport(make) } else { try make() }
    let (tiered, tier) = builder.tiered(
      transport,
      store.staging,
      bodies: bodies,
      clock: context.clock,
      secrets: context.console.needles,
      isDry: isDry
    )
    let engine = Engine(
      transport: tiered,
      store: store,
      files: files,
      clock: context.clock,
      stop: stop,
      circumstances: circumstances,
      trees: trees,
      tier: tier,
      observers: observers
    )
    return try engine.run(
      request,
      gates: memory.gates,
      seed: UInt64.random(in: 0...UInt64.max)
    )
  }
}
