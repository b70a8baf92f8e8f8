import PrefetchCLI

#if canImport(Glibc)
import Glibc
#endif

exit(Program.run(words: CommandLine.arguments))
