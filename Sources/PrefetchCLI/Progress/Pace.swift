import PrefetchCore

/// Speed over the last seconds.
struct Pace {
  private struct Sample {
    var time: Duration
    var fraction: Double
    var bytes: Int64
  }

  /// Window of samples: smooths single bodies, and still shows a stall.
  private static let window: Duration = .seconds(8)
  private static let spacing: Duration = .milliseconds(250)
  private static let longest: Duration = .seconds(99 * 3600)

  /// Samples, oldest first.
  private var samples: [Sample] = []

  mutating func addSample(_ fraction: Double, _ bytes: Int64, at time: Duration) {
    if let last = samples.last, samples.count > 1, time - last.time < Self.spacing {
      samples[samples.count - 1].fraction = fraction
      samples[samples.count - 1].bytes = bytes
      return
    }
    samples.append(Sample(time: time, fraction: fraction, bytes: bytes))
    while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
  }

  private var span: (from: Sample, to: Sample, seconds: Double)? {
    guard let from = samples.first, let to = samples.last, from.time + Self.spacing < to.time else {
      return nil
    }
    return (from, to, Double((to.time - from.time).milliseconds) / 1000)
  }

  /// Bytes a second; nil before the first measurement.
  var rate: Int64? {
    guard let span else { return nil }
    return Int64(Double(max(0, span.to.bytes - span.from.bytes)) / span.seconds)
  }

  var remaining: Duration? {
    guard let span, span.to.fraction > span.from.fraction else { return nil }
    let speed = (span.to.fraction - span.from.fraction) / span.seconds
    let seconds = (1 - span.to.fraction) / speed
    let rest = Duration.milliseconds(Int64(min(seconds, 1_000_000) * 1000))
    return min(rest, Self.longest)
  }
}
