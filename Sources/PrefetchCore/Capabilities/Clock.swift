/// The only source of time; deciding code gets a ``Moment`` as an argument.
package protocol Clock: AnyObject {
  func now() -> Moment
}
