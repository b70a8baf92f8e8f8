package struct NetworkPolicy: Hashable, Sendable {
  /// Allowed networks; nil allows every kind, also the unknown.
  package var allowed: Set<NetworkType>?
  package var defersMetered = false
  package var defersUnknownMetered = false
  /// Opening hours, all of which have to be open.
  package var hours: [OpeningHours] = []
  /// Further hours, by clocks still to be determined; see ``resolved(for:calendar:zone:)``.
  package var localHours: [LocalHours] = []
  package var needsMains = false
  /// Percent of charge below which nothing is transferred on battery.
  package var batteryFloor = 0
  package var budgets: [ByteBudget] = []
  /// Time zone by whose midnight the budgets' days begin.
  package var calendar = TimeZoneRules.utc
  package var quality = QualityPolicy()
  package var isSwitchedOff = false

  package init() {}

  package var isFree: Bool {
    !isSwitchedOff && aspects.isEmpty && hours.isEmpty && localHours.isEmpty && budgets.isEmpty
      && !quality.matters
      && !quality.isMeasured
  }

  package var aspects: Set<NetworkConditions.Aspect> {
    var aspects: Set<NetworkConditions.Aspect> = []
    if allowed != nil || !budgets.isEmpty || quality.isMeasured { aspects.insert(.type) }
    if defersMetered || defersUnknownMetered { aspects.insert(.metered) }
    if needsMains || batteryFloor > 0 { aspects.insert(.power) }
    return aspects
  }

  /// Returns what both policies allow, with the calendar of this one.
  package func narrowed(by other: Self) -> Self {
    var narrowed = self
    if let theirs = other.allowed { narrowed.allowed = allowed?.intersection(theirs) ?? theirs }
    narrowed.defersMetered = defersMetered || other.defersMetered
    narrowed.defersUnknownMetered = defersUnknownMetered || other.defersUnknownMetered
    narrowed.hours += other.hours.filter { !hours.contains($0) }
    narrowed.localHours += other.localHours.filter { !localHours.contains($0) }
    narrowed.needsMains = needsMains || other.needsMains
    narrowed.batteryFloor = max(batteryFloor, other.batteryFloor)
    narrowed.budgets += other.budgets.filter { !budgets.contains($0) }
    narrowed.quality = quality.narrowed(by: other.quality)
    narrowed.isSwitchedOff = isSwitchedOff || other.isSwitchedOff
    return narrowed
  }

  /// Returns a segment's rules with hours by known clocks; hours of an unknown zone never open.
  package func resolved(
    for segment: SegmentKey,
    calendar: TimeZoneRules,
    zone: (String) -> TimeZoneRules? = { _ in nil }
  ) -> Self {
    var resolved = resolved(calendar: calendar, zone: zone)
    for index in resolved.budgets.indices { resolved.budgets[index].segment = segment }
    return resolved
  }

  package func resolved(
    calendar: TimeZoneRules,
    zone: (String) -> TimeZoneRules? = { _ in nil }
  ) -> Self {
    var resolved = self
    resolved.calendar = calendar
    resolved.localHours = []
    for local in localHours {
      let clock: TimeZoneRules? = if let name = local.zone { zone(name) } else { calendar }
      let hours = OpeningHours(windows: clock == nil ? [] : local.windows, zone: clock ?? .utc)
      if !resolved.hours.contains(hours) { resolved.hours.append(hours) }
    }
    return resolved
  }
}

/// Windows of a clock that is known by name only; open while any window is.
package struct LocalHours: Hashable, Sendable {
  package var windows: [ClockWindow]
  package var zone: String?

  package init(windows: [ClockWindow], zone: String? = nil) {
    self.windows = windows
    self.zone = zone
  }
}
