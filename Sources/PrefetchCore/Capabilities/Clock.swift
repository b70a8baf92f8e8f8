/// The one source of time; everything that decides gets a ``Moment`` as an argument.
package protocol Clock: AnyObject {
  func now() -> Moment
}
