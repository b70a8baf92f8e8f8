import PrefetchCore
import PrefetchEngine
import PrefetchStore
import PrefetchTransfer

/// The engine with this machine's adapters, which are made only here.
struct EngineRun {
  let context: CommandContext
  let builder: RequestBuilder
  let store: any ContentStore
  let bodies: BodyPaths
  let circumstances: MachineCircumstances
  var memory = HostMemory.none
  /// Session with connections for the run; nil for the run's own.
  var session: ItemSession?
  var stop: any StopSignal = ProcessStop()
  var files = SystemFiles()
  var trees: PublishedTrees?
  var foresight: TreeForesight?
  var observers: [any RunObserver] = []
  var isTraced = false
  /// Whether the run writes nothing, neither here nor to the second tier.
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
    var observers = self.observers
    if request.mode.writes, !isDry {
      observers.append(TransferProgressWriter(inCache: bodies.cache))
    }
    let engine = Engine(
      transport: tiered,
      store: store,
      files: files,
      clock: context.clock,
      stop: stop,
      circumstances: circumstances,
      trees: isDry ? foresight : trees,
      adopter: isDry ? AdoptionLook() : trees,
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
