// Breaks a program at its n-th call that touches files or the network.
//
// The library is loaded by LD_PRELOAD and reads:
//
//   FAULT_AT      number of the call, from 1; 0 or absent only counts
//   FAULT_KIND    `kill` (SIGKILL before the call; a write first writes half of its bytes)
//                 or the number of the error that the call returns
//   FAULT_FOR     number of calls that fail, from the n-th on; 1 by default
//   FAULT_CALLS   `open` or `read` counts these calls only; all by default
//   FAULT_PATH    counts only calls on files whose path contains this text
//   FAULT_LOG     file that receives the number of calls, or the broken call
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long counted;
static long at, span = 1;
static int number, dies;
static const char *calls, *wanted, *log_path;

static void note(const char *text) {
  if (log_path == NULL) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  syscall(SYS_write, file, text, strlen(text));
  syscall(SYS_close, file);
}

__attribute__((constructor)) static void begin(void) {
  const char *kind = getenv("FAULT_KIND");
  const char *place = getenv("FAULT_AT");
  const char *length = getenv("FAULT_FOR");
  calls = getenv("FAULT_CALLS");
  wanted = getenv("FAULT_PATH");
  log_path = getenv("FAULT_LOG");
  dies = kind == NULL || strcmp(kind, "kill") == 0;
  if (!dies) number = atoi(kind);
  if (length != NULL) span = atol(length);
  // Counting starts here, after the loader has opened its own files.
  if (place != NULL) at = atol(place);
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  if (at != 0) return;
  char text[32];
  snprintf(text, sizeof text, "%ld\n", atomic_load(&counted));
  note(text);
}

/// Returns whether the call is of the requested kind and on a matching file.
static int counts(const char *name, const char *path, int descriptor) {
  if (calls != NULL && strstr(name, calls) == NULL) return 0;
  if (wanted == NULL) return 1;
  if (path != NULL) return strstr(path, wanted) != NULL;
  char link[64], target[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, target, sizeof target - 1);
  if (count <= 0) return 0;
  target[count] = 0;
  return strstr(target, wanted) != NULL;
}

/// Returns 1 when the call must fail; does not return when the program must die.
static int breaks(const char *name, const char *path, int descriptor, const void *bytes, size_t size) {
  int before = errno;
  int isBroken = 0;
  if (counts(name, path, descriptor)) {
    long call = atomic_fetch_add(&counted, 1) + 1;
    if (at != 0 && call >= at && call < at + span) {
      char text[4400], link[64], target[4096] = "";
      if (path == NULL && descriptor >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t count = readlink(link, target, sizeof target - 1);
        if (count > 0) target[count] = 0;
      }
      snprintf(text, sizeof text, "%ld %s %s\n", call, name, path != NULL ? path : target);
      note(text);
      if (dies) {
        if (bytes != NULL && size > 1) syscall(SYS_write, descriptor, bytes, size / 2);
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
      }
      isBroken = 1;
    }
  }
  errno = isBroken ? number : before;
  return isBroken;
}

#define NEXT(result, name, ...)                                   \
  static result (*next)(__VA_ARGS__);                             \
  if (next == NULL) next = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                       \
  int name(const char *path, int flags, ...) {           \
    NEXT(int, #name, const char *, int, ...);            \
    va_list rest;                                        \
    va_start(rest, flags);                               \
    mode_t mode = mode_of(flags, rest);                  \
    va_end(rest);                                        \
    if (breaks(#name, path, -1, NULL, 0)) return -1;     \
    return next(path, flags, mode);                      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                       \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(int, #name, int, const char *, int, ...);         \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    mode_t mode = mode_of(flags, rest);                    \
    va_end(rest);                                          \
    if (breaks(#name, path, -1, NULL, 0)) return -1;       \
    return next(folder, path, flags, mode);                \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int file, void *bytes, size_t size) {
  NEXT(ssize_t, "read", int, void *, size_t);
  return breaks("read", NULL, file, NULL, 0) ? -1 : next(file, bytes, size);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
  NEXT(ssize_t, "pread", int, void *, size_t, off_t);
  return breaks("pread", NULL, file, NULL, 0) ? -1 : next(file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
  NEXT(ssize_t, "pread64", int, void *, size_t, off64_t);
  return breaks("pread64", NULL, file, NULL, 0) ? -1 : next(file, bytes, size, offset);
}

ssize_t write(int file, const void *bytes, size_t size) {
  NEXT(ssize_t, "write", int, const void *, size_t);
  return breaks("write", NULL, file, bytes, size) ? -1 : next(file, bytes, size);
}

static void tear(int file, const void *bytes, size_t size, off64_t offset) {
  if (dies && size > 1) syscall(SYS_pwrite64, file, bytes, size / 2, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  NEXT(ssize_t, "pwrite", int, const void *, size_t, off_t);
  if (at != 0 && atomic_load(&counted) + 1 == at && counts("pwrite", NULL, file))
    tear(file, bytes, size, offset);
  return breaks("pwrite", NULL, file, NULL, 0) ? -1 : next(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  NEXT(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  if (at != 0 && atomic_load(&counted) + 1 == at && counts("pwrite64", NULL, file))
    tear(file, bytes, size, offset);
  return breaks("pwrite64", NULL, file, NULL, 0) ? -1 : next(file, bytes, size, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(ssize_t, "writev", int, const struct iovec *, int);
  return breaks("writev", NULL, file, NULL, 0) ? -1 : next(file, parts, count);
}

#define ON_FILE(name)                                            \
  int name(int file) {                                           \
    NEXT(int, #name, int);                                       \
    return breaks(#name, NULL, file, NULL, 0) ? -1 : next(file); \
  }
ON_FILE(fsync)
ON_FILE(fdatasync)

int ftruncate(int file, off_t size) {
  NEXT(int, "ftruncate", int, off_t);
  return breaks("ftruncate", NULL, file, NULL, 0) ? -1 : next(file, size);
}

int ftruncate64(int file, off64_t size) {
  NEXT(int, "ftruncate64", int, off64_t);
  return breaks("ftruncate64", NULL, file, NULL, 0) ? -1 : next(file, size);
}

int fchmod(int file, mode_t mode) {
  NEXT(int, "fchmod", int, mode_t);
  return breaks("fchmod", NULL, file, NULL, 0) ? -1 : next(file, mode);
}

int rename(const char *from, const char *to) {
  NEXT(int, "rename", const char *, const char *);
  return breaks("rename", to, -1, NULL, 0) ? -1 : next(from, to);
}

int renameat(int a, const char *from, int b, const char *to) {
  NEXT(int, "renameat", int, const char *, int, const char *);
  return breaks("renameat", to, -1, NULL, 0) ? -1 : next(a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  NEXT(int, "renameat2", int, const char *, int, const char *, unsigned);
  return breaks("renameat2", to, -1, NULL, 0) ? -1 : next(a, from, b, to, flags);
}

int link(const char *from, const char *to) {
  NEXT(int, "link", const char *, const char *);
  return breaks("link", to, -1, NULL, 0) ? -1 : next(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
  NEXT(int, "linkat", int, const char *, int, const char *, int);
  return breaks("linkat", to, -1, NULL, 0) ? -1 : next(a, from, b, to, flags);
}

int symlink(const char *from, const char *to) {
  NEXT(int, "symlink", const char *, const char *);
  return breaks("symlink", to, -1, NULL, 0) ? -1 : next(from, to);
}

#define ON_PATH(name)                                            \
  int name(const char *path) {                                   \
    NEXT(int, #name, const char *);                              \
    return breaks(#name, path, -1, NULL, 0) ? -1 : next(path);   \
  }
ON_PATH(unlink)
ON_PATH(rmdir)

int unlinkat(int folder, const char *path, int flags) {
  NEXT(int, "unlinkat", int, const char *, int);
  return breaks("unlinkat", path, -1, NULL, 0) ? -1 : next(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
  NEXT(int, "mkdir", const char *, mode_t);
  return breaks("mkdir", path, -1, NULL, 0) ? -1 : next(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  NEXT(int, "mkdirat", int, const char *, mode_t);
  return breaks("mkdirat", path, -1, NULL, 0) ? -1 : next(folder, path, mode);
}

int connect(int socket, const struct sockaddr *address, socklen_t size) {
  NEXT(int, "connect", int, const struct sockaddr *, socklen_t);
  return breaks("connect", NULL, socket, NULL, 0) ? -1 : next(socket, address, size);
}

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
  NEXT(ssize_t, "send", int, const void *, size_t, int);
  return breaks("send", NULL, socket, bytes, size) ? -1 : next(socket, bytes, size, flags);
}

ssize_t recv(int socket, void *bytes, size_t size, int flags) {
  NEXT(ssize_t, "recv", int, void *, size_t, int);
  return breaks("recv", NULL, socket, NULL, 0) ? -1 : next(socket, bytes, size, flags);
}
