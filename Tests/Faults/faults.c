// Breaks a program at its n-th call that touches files or the network.
//
// The library is loaded by LD_PRELOAD and reads:
//
//   FAULT_AT      number of the call, from 1; 0 or absent only counts
//   FAULT_KIND    `kill` (SIGKILL before the call; a write first writes half of its bytes)
//                 or the number of the error that the call returns, or `half` (a read or write
//                 moves half of its bytes, and one of a single byte is interrupted)
//   FAULT_FOR     number of calls that fail, from the n-th on; 1 by default
//   FAULT_CALLS   names of the calls to count, separated by blanks; by default those that change
//                 or read files or use the network (`usual` below); `read_stream` and
//                 `write_stream` are the calls on anything that is no regular file
//   FAULT_PATH    counts only calls on files whose path contains this text
//   FAULT_LOG     file that receives the number of calls, or the first broken call
//   FAULT_TALLY   file that receives a line for each name: its calls, counted or not
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utime.h>

static atomic_long counted;
static long at, span = 1;
static int number, dies, halves;
static const char *calls, *wanted, *log_path, *tally_path;
static atomic_int isNoted;

/// Calls that count without FAULT_CALLS.
static const char usual[] =
    " open open64 openat openat64 read read_stream pread pread64 write write_stream pwrite pwrite64"
    " writev fsync fdatasync ftruncate ftruncate64 fchmod rename renameat renameat2 link linkat symlink unlink unlinkat"
    " rmdir mkdir mkdirat connect send recv ";

/// Calls of each name; a name is a literal, so that its address tells it from the others.
static struct {
  _Atomic(const char *) name;
  atomic_long calls;
} tallies[128];

static void tally(const char *name) {
  for (int slot = 0; slot < 128; slot++) {
    const char *owner = atomic_load(&tallies[slot].name);
    if (owner == NULL && atomic_compare_exchange_strong(&tallies[slot].name, &owner, name))
      owner = name;
    if (owner != name) continue;
    atomic_fetch_add(&tallies[slot].calls, 1);
    return;
  }
}

static void save(const char *path, const char *text) {
  if (path == NULL) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  syscall(SYS_write, file, text, strlen(text));
  syscall(SYS_close, file);
}

static void note(const char *text) { save(log_path, text); }

__attribute__((constructor)) static void begin(void) {
  const char *kind = getenv("FAULT_KIND");
  const char *place = getenv("FAULT_AT");
  const char *length = getenv("FAULT_FOR");
  const char *names = getenv("FAULT_CALLS");
  static char padded[2048];
  // Blanks on both sides make each name a whole word.
  if (names != NULL) snprintf(padded, sizeof padded, " %s ", names);
  calls = names != NULL ? padded : usual;
  wanted = getenv("FAULT_PATH");
  log_path = getenv("FAULT_LOG");
  tally_path = getenv("FAULT_TALLY");
  dies = kind == NULL || strcmp(kind, "kill") == 0;
  halves = kind != NULL && strcmp(kind, "half") == 0;
  // One byte has no half: such a call is interrupted.
  if (!dies) number = halves ? EINTR : atoi(kind);
  if (length != NULL) span = atol(length);
  // Counting starts here, after the loader has opened its own files.
  if (place != NULL) at = atol(place);
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  if (tally_path != NULL) {
    char text[8192];
    size_t length = 0;
    for (int slot = 0; slot < 128 && length < sizeof text - 100; slot++) {
      const char *name = atomic_load(&tallies[slot].name);
      if (name == NULL) break;
      long count = atomic_load(&tallies[slot].calls);
      length += (size_t)snprintf(text + length, sizeof text - length, "%s %ld\n", name, count);
    }
    save(tally_path, text);
  }
  if (at != 0) return;
  char text[32];
  snprintf(text, sizeof text, "%ld\n", atomic_load(&counted));
  note(text);
}

/// Returns whether the call is of the requested kind and on a matching file.
static int counts(const char *name, const char *path, int descriptor) {
  char word[64];
  snprintf(word, sizeof word, " %s ", name);
  if (strstr(calls, word) == NULL) return 0;
  if (wanted == NULL) return 1;
  if (path != NULL) return strstr(path, wanted) != NULL;
  char link[64], target[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
  if (count <= 0) return 0;
  target[count] = 0;
  return strstr(target, wanted) != NULL;
}

/// Returns 1 when the call must fail; does not return when the program must die.
static int breaks(const char *name, const char *path, int descriptor, const void *bytes, size_t size) {
  int before = errno;
  int isBroken = 0;
  if (tally_path != NULL) tally(name);
  if (calls != NULL && counts(name, path, descriptor)) {
    long call = atomic_fetch_add(&counted, 1) + 1;
    if (at != 0 && call >= at && call < at + span) {
      char text[4400], link[64], target[4096] = "";
      if (path == NULL && descriptor >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
        if (count > 0) target[count] = 0;
      }
      snprintf(text, sizeof text, "%ld %s %s\n", call, name, path != NULL ? path : target);
      if (!atomic_exchange(&isNoted, 1)) note(text);
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

/// Returns from a call that moves bytes, with an error or with half of them.
#define FAULT(name, file, half) \
  if (breaks(name, NULL, file, NULL, 0)) return halves && size > 1 ? half : -1

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

/// Whether a descriptor is a regular file; pipes and sockets meet other errors.
static int is_file(int file) {
  struct stat status;
  int before = errno;
  int result = (int)syscall(SYS_fstat, file, &status);
  errno = before;
  return result == 0 && S_ISREG(status.st_mode);
}

ssize_t read(int file, void *bytes, size_t size) {
  NEXT(ssize_t, "read", int, void *, size_t);
  FAULT(is_file(file) ? "read" : "read_stream", file, next(file, bytes, size / 2));
  return next(file, bytes, size);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
  NEXT(ssize_t, "pread", int, void *, size_t, off_t);
  FAULT("pread", file, next(file, bytes, size / 2, offset));
  return next(file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
  NEXT(ssize_t, "pread64", int, void *, size_t, off64_t);
  FAULT("pread64", file, next(file, bytes, size / 2, offset));
  return next(file, bytes, size, offset);
}

ssize_t write(int file, const void *bytes, size_t size) {
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (breaks(is_file(file) ? "write" : "write_stream", NULL, file, bytes, size))
    return halves && size > 1 ? next(file, bytes, size / 2) : -1;
  return next(file, bytes, size);
}

static void tear(int file, const void *bytes, size_t size, off64_t offset) {
  if (dies && size > 1) syscall(SYS_pwrite64, file, bytes, size / 2, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
  NEXT(ssize_t, "pwrite", int, const void *, size_t, off_t);
  if (at != 0 && atomic_load(&counted) + 1 == at && counts("pwrite", NULL, file))
    tear(file, bytes, size, offset);
  FAULT("pwrite", file, next(file, bytes, size / 2, offset));
  return next(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  NEXT(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  if (at != 0 && atomic_load(&counted) + 1 == at && counts("pwrite64", NULL, file))
    tear(file, bytes, size, offset);
  FAULT("pwrite64", file, next(file, bytes, size / 2, offset));
  return next(file, bytes, size, offset);
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
ON_FILE(syncfs)

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
  if (breaks("send", NULL, socket, bytes, size))
    return halves && size > 1 ? next(socket, bytes, size / 2, flags) : -1;
  return next(socket, bytes, size, flags);
}

ssize_t recv(int socket, void *bytes, size_t size, int flags) {
  NEXT(ssize_t, "recv", int, void *, size_t, int);
  FAULT("recv", socket, next(socket, bytes, size / 2, flags));
  return next(socket, bytes, size, flags);
}

ssize_t sendto(int socket, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  NEXT(ssize_t, "sendto", int, const void *, size_t, int, const struct sockaddr *, socklen_t);
  return breaks("sendto", NULL, socket, NULL, 0) ? -1 : next(socket, bytes, size, flags, to, length);
}

ssize_t recvfrom(int socket, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
  NEXT(ssize_t, "recvfrom", int, void *, size_t, int, struct sockaddr *, socklen_t *);
  return breaks("recvfrom", NULL, socket, NULL, 0) ? -1 : next(socket, bytes, size, flags, from, length);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  NEXT(ssize_t, "sendmsg", int, const struct msghdr *, int);
  return breaks("sendmsg", NULL, socket, NULL, 0) ? -1 : next(socket, message, flags);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
  NEXT(ssize_t, "recvmsg", int, struct msghdr *, int);
  return breaks("recvmsg", NULL, socket, NULL, 0) ? -1 : next(socket, message, flags);
}

int socket(int domain, int type, int protocol) {
  NEXT(int, "socket", int, int, int);
  return breaks("socket", NULL, -1, NULL, 0) ? -1 : next(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int *ends) {
  NEXT(int, "socketpair", int, int, int, int *);
  return breaks("socketpair", NULL, -1, NULL, 0) ? -1 : next(domain, type, protocol, ends);
}

int getsockopt(int socket, int level, int option, void *value, socklen_t *length) {
  NEXT(int, "getsockopt", int, int, int, void *, socklen_t *);
  return breaks("getsockopt", NULL, socket, NULL, 0) ? -1 : next(socket, level, option, value, length);
}

int setsockopt(int socket, int level, int option, const void *value, socklen_t length) {
  NEXT(int, "setsockopt", int, int, int, const void *, socklen_t);
  return breaks("setsockopt", NULL, socket, NULL, 0) ? -1 : next(socket, level, option, value, length);
}

int poll(struct pollfd *files, nfds_t count, int timeout) {
  NEXT(int, "poll", struct pollfd *, nfds_t, int);
  return breaks("poll", NULL, -1, NULL, 0) ? -1 : next(files, count, timeout);
}

int pipe(int *ends) {
  NEXT(int, "pipe", int *);
  return breaks("pipe", NULL, -1, NULL, 0) ? -1 : next(ends);
}

int memfd_create(const char *name, unsigned flags) {
  NEXT(int, "memfd_create", const char *, unsigned);
  return breaks("memfd_create", name, -1, NULL, 0) ? -1 : next(name, flags);
}

int eventfd(unsigned count, int flags) {
  NEXT(int, "eventfd", unsigned, int);
  return breaks("eventfd", NULL, -1, NULL, 0) ? -1 : next(count, flags);
}

int epoll_create1(int flags) {
  NEXT(int, "epoll_create1", int);
  return breaks("epoll_create1", NULL, -1, NULL, 0) ? -1 : next(flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *settings, void *(*body)(void *), void *value) {
  NEXT(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  return breaks("pthread_create", NULL, -1, NULL, 0) ? number : next(thread, settings, body, value);
}

/// Memory of files counts; memory that the loader and the allocator take does not come here.
#define MAP(name, offset_type)                                                              \
  void *name(void *start, size_t size, int rights, int flags, int file, offset_type offset) { \
    NEXT(void *, #name, void *, size_t, int, int, int, offset_type);                         \
    int isBroken = file >= 0 && breaks(#name, NULL, file, NULL, 0);                          \
    return isBroken ? MAP_FAILED : next(start, size, rights, flags, file, offset);           \
  }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

#define STATUS_OF_FILE(name, type)                                         \
  int name(int file, struct type *status) {                                \
    NEXT(int, #name, int, struct type *);                                  \
    return breaks(#name, NULL, file, NULL, 0) ? -1 : next(file, status);   \
  }
STATUS_OF_FILE(fstat, stat)
STATUS_OF_FILE(fstat64, stat64)
STATUS_OF_FILE(fstatfs, statfs)
STATUS_OF_FILE(fstatvfs, statvfs)

#define STATUS_OF_PATH(name, type)                                         \
  int name(const char *path, struct type *status) {                        \
    NEXT(int, #name, const char *, struct type *);                         \
    return breaks(#name, path, -1, NULL, 0) ? -1 : next(path, status);     \
  }
STATUS_OF_PATH(stat, stat)
STATUS_OF_PATH(stat64, stat64)
STATUS_OF_PATH(lstat, stat)
STATUS_OF_PATH(lstat64, stat64)
STATUS_OF_PATH(statvfs, statvfs)

int fstatat(int folder, const char *path, struct stat *status, int flags) {
  NEXT(int, "fstatat", int, const char *, struct stat *, int);
  return breaks("fstatat", path, -1, NULL, 0) ? -1 : next(folder, path, status, flags);
}

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
  NEXT(int, "statx", int, const char *, int, unsigned, struct statx *);
  return breaks("statx", path, -1, NULL, 0) ? -1 : next(folder, path, flags, mask, status);
}

int access(const char *path, int mode) {
  NEXT(int, "access", const char *, int);
  return breaks("access", path, -1, NULL, 0) ? -1 : next(path, mode);
}

int faccessat(int folder, const char *path, int mode, int flags) {
  NEXT(int, "faccessat", int, const char *, int, int);
  return breaks("faccessat", path, -1, NULL, 0) ? -1 : next(folder, path, mode, flags);
}

ssize_t readlink(const char *path, char *bytes, size_t size) {
  NEXT(ssize_t, "readlink", const char *, char *, size_t);
  return breaks("readlink", path, -1, NULL, 0) ? -1 : next(path, bytes, size);
}

ssize_t readlinkat(int folder, const char *path, char *bytes, size_t size) {
  NEXT(ssize_t, "readlinkat", int, const char *, char *, size_t);
  return breaks("readlinkat", path, -1, NULL, 0) ? -1 : next(folder, path, bytes, size);
}

char *realpath(const char *path, char *result) {
  NEXT(char *, "realpath", const char *, char *);
  return breaks("realpath", path, -1, NULL, 0) ? NULL : next(path, result);
}

char *getcwd(char *bytes, size_t size) {
  NEXT(char *, "getcwd", char *, size_t);
  return breaks("getcwd", NULL, -1, NULL, 0) ? NULL : next(bytes, size);
}

DIR *opendir(const char *path) {
  NEXT(DIR *, "opendir", const char *);
  return breaks("opendir", path, -1, NULL, 0) ? NULL : next(path);
}

DIR *fdopendir(int file) {
  NEXT(DIR *, "fdopendir", int);
  return breaks("fdopendir", NULL, file, NULL, 0) ? NULL : next(file);
}

#define READ_FOLDER(name, type)                                              \
  struct type *name(DIR *folder) {                                           \
    NEXT(struct type *, #name, DIR *);                                       \
    return breaks(#name, NULL, dirfd(folder), NULL, 0) ? NULL : next(folder); \
  }
READ_FOLDER(readdir, dirent)
READ_FOLDER(readdir64, dirent64)

/// Locks count, and nothing else that these calls do.
#define CONTROL(name)                                                                   \
  int name(int file, int command, ...) {                                                \
    NEXT(int, #name, int, int, ...);                                                    \
    va_list rest;                                                                       \
    va_start(rest, command);                                                            \
    void *value = va_arg(rest, void *);                                                 \
    va_end(rest);                                                                       \
    int isLock = command == F_SETLK || command == F_SETLKW || command == F_GETLK ||     \
                 command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK; \
    if (isLock && breaks(#name, NULL, file, NULL, 0)) return -1;                        \
    return next(file, command, value);                                                  \
  }
CONTROL(fcntl)
CONTROL(fcntl64)

int flock(int file, int command) {
  NEXT(int, "flock", int, int);
  return breaks("flock", NULL, file, NULL, 0) ? -1 : next(file, command);
}

/// Only the cloning of a file's blocks counts.
int ioctl(int file, unsigned long request, ...) {
  NEXT(int, "ioctl", int, unsigned long, ...);
  va_list rest;
  va_start(rest, request);
  void *value = va_arg(rest, void *);
  va_end(rest);
  if (request == 0x40049409UL && breaks("ioctl", NULL, file, NULL, 0)) return -1;
  return next(file, request, value);
}

int symlinkat(const char *target, int folder, const char *path) {
  NEXT(int, "symlinkat", const char *, int, const char *);
  return breaks("symlinkat", path, -1, NULL, 0) ? -1 : next(target, folder, path);
}

int chmod(const char *path, mode_t mode) {
  NEXT(int, "chmod", const char *, mode_t);
  return breaks("chmod", path, -1, NULL, 0) ? -1 : next(path, mode);
}

int fchmodat(int folder, const char *path, mode_t mode, int flags) {
  NEXT(int, "fchmodat", int, const char *, mode_t, int);
  return breaks("fchmodat", path, -1, NULL, 0) ? -1 : next(folder, path, mode, flags);
}

int fchown(int file, uid_t user, gid_t group) {
  NEXT(int, "fchown", int, uid_t, gid_t);
  return breaks("fchown", NULL, file, NULL, 0) ? -1 : next(file, user, group);
}

int utime(const char *path, const struct utimbuf *times) {
  NEXT(int, "utime", const char *, const struct utimbuf *);
  return breaks("utime", path, -1, NULL, 0) ? -1 : next(path, times);
}

int futimens(int file, const struct timespec *times) {
  NEXT(int, "futimens", int, const struct timespec *);
  return breaks("futimens", NULL, file, NULL, 0) ? -1 : next(file, times);
}

int utimensat(int folder, const char *path, const struct timespec *times, int flags) {
  NEXT(int, "utimensat", int, const char *, const struct timespec *, int);
  return breaks("utimensat", path, -1, NULL, 0) ? -1 : next(folder, path, times, flags);
}

off_t lseek(int file, off_t offset, int from) {
  NEXT(off_t, "lseek", int, off_t, int);
  return breaks("lseek", NULL, file, NULL, 0) ? -1 : next(file, offset, from);
}

/// The descriptor is gone in any case, as the kernel does it.
int close(int file) {
  NEXT(int, "close", int);
  int isBroken = breaks("close", NULL, file, NULL, 0);
  int error = errno;
  int result = next(file);
  if (isBroken) errno = error;
  return isBroken ? -1 : result;
}

/// Random bytes count; the runtime asks for them without a function of the C library.
long syscall(long call, ...) {
  NEXT(long, "syscall", long, ...);
  va_list rest;
  va_start(rest, call);
  long values[6];
  for (int index = 0; index < 6; index++) values[index] = va_arg(rest, long);
  va_end(rest);
  if (call == SYS_getrandom && breaks("getrandom", NULL, -1, NULL, 0)) return -1;
  if (call == SYS_openat2 && breaks("openat2", (const char *)values[1], -1, NULL, 0)) return -1;
  return next(call, values[0], values[1], values[2], values[3], values[4], values[5]);
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
  NEXT(ssize_t, "getrandom", void *, size_t, unsigned);
  return breaks("getrandom", NULL, -1, NULL, 0) ? -1 : next(bytes, size, flags);
}
