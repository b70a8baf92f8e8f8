/// What `prefetch completion` prints.
enum CompletionScript {
  static func render(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletion.render()
    case .zsh: ZshCompletion.render()
    case .fish: FishCompletion.render()
    }
  }
}
