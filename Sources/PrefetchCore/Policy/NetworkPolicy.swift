/// Under what conditions something may be transferred.
package struct NetworkPolicy: Hashable, Sendable {
  /// Nil for every kind, the unknown one included.
  package var allowed: Set<NetworkType>?
  package var defersMetered = false
  package var defersUnknownMetered = false
  /// All of them have to be open.
  package var hours: [OpeningHours] = []
  /// More of them, by whatever clocks turn out to be meant; see ``resolved(for:calendar:zone:)``.
  package var localHours: [LocalHours] = []
  package var needsMains = false
  /// Percent of charge below which nothing is transferred on battery.
  package var batteryFloor = 0
  /// All of them have to have something left.
  package var budgets: [ByteBudget] = []
  /// Whose midnight begins a day of the budgets.
  package var calendar = TimeZoneRules.utc
  package var quality = QualityPolicy()
  /// Whether the publisher has switched runs off, whatever the network is like.
  package var isSwitchedOff = false

  package init() {}

  /// Whether it forbids nothing.
  package var isFree: Bool {
    !isSwitchedOff && aspects.isEmpty && hours.isEmpty && localHours.isEmpty && budgets.isEmpty
      && !quality.matters
      && !quality.isMeasured
  }

  /// What has to be found out to decide by it.
  package var aspects: Set<NetworkConditions.Aspect> {
    var aspects: Set<NetworkConditions.Aspect> = []
    if allowed != nil || !budgets.isEmpty || quality.isMeasured { aspects.insert(.type) }
    if defersMetered || defersUnknownMetered { aspects.insert(.metered) }
    if needsMains || batteryFloor > 0 { aspects.insert(.power) }
    return aspects
  }

  /// What both allow; the calendar is that of the wider one.
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

  /// As a rule of one segment, by known clocks: the calendar of the run, unless a zone is named.
  ///
  /// It is not known when windows by an unknown clock are open, so they never are.
  package func resolved(
    for segment: SegmentKey,
    calendar: TimeZoneRules,
    zone: (String) -> TimeZoneRules? = { _ in nil }
  ) -> Self {
    var resolved = resolved(calendar: calendar, zone: zone)
    for index in resolved.budgets.indices { resolved.budgets[index].segment = segment }
    return resolved
  }

  /// The same as a rule of the whole run.
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

/// Windows whose clock is known by its name alone; open while any of them is.
package struct LocalHours: Hashable, Sendable {
  package var windows: [ClockWindow]
  /// Nil for the clock of the calendar.
  package var zone: String?

  package init(windows: [ClockWindow], zone: String? = nil) {
    self.windows = windows
    self.zone = zone
  }
}
