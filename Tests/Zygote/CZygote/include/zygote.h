#ifndef ZYGOTE_H
#define ZYGOTE_H

#include <stddef.h>
#include <sys/types.h>

/// Prepares this process and then copies it for each message on the socket, until its other end closes.
///
/// A message is the number of words and that of variables, then the folder, the words and the
/// variables, each ended by a zero byte; with it come the three streams. A copy is a child of whoever
/// started this process, which can wait for it as for any other, and ends with what `run` gives.
///
/// What a thread remembers of itself, its number for instance, is wrong in a copy of it: Swift's locks
/// would wait for another. So each copy is one of a thread that has done nothing before.
void zygote_serve(int socket, void (*prepare)(void), int (*run)(int count, char **words));

/// Sends such a message and gives the copy's process id, or -1.
pid_t zygote_start(int socket, const void *message, size_t size, const int streams[3]);

/// From now on a process has no more than these bytes of memory, and writes none beyond those of a file.
int process_limit(pid_t process, size_t memory, size_t file);

#endif
