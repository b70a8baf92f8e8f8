#ifndef ZYGOTE_H
#define ZYGOTE_H

#include <stddef.h>
#include <sys/types.h>

/// Prepares this process and then copies it for each message on the socket, until its other end closes.
///
/// A message has the numbers of words and variables, then the folder, the words and the variables,
/// each ended by a zero byte; the three streams are sent with the message. A copy is a child of the
/// process that started this one, which can wait for the copy; its exit status is that of `run`.
///
/// A thread's own facts, such as its id, are wrong in its copy, so that Swift's locks would wait for
/// another thread. Each copy is therefore made of a thread that has done nothing before.
void zygote_serve(int socket, void (*prepare)(void), int (*run)(int count, char **words));

/// Sends a message; returns the copy's process id, or -1.
pid_t zygote_start(int socket, const void *message, size_t size, const int streams[3]);

/// Limits a running process's memory and the size of the files that it writes, in bytes.
int process_limit(pid_t process, size_t memory, size_t file);

#endif
