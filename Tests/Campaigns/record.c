// Records every change of files, so that a power cut at any moment can be replayed.
//
// The library is loaded by LD_PRELOAD and reads:
//
//   FAULT_RECORD  file that receives the records, in the order of their effects over all threads
//                 and over all processes that record into it
//   FAULT_ROOT    folder on the file system whose changes are recorded
//   FAULT_BOOT    file that is opened instead of `boot_id`, so that a machine seems to have restarted
//   FAULT_NODES   table that gives files of a replayed state their earlier inode numbers and times
//
// Calls that only read pass unchanged. SQLite alone writes through `mmap`, to the shared memory of its
// log. The record has what is there at each sync of the log, since a disk may keep such a state.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

// Kinds of records; `disk.py` has the same table.
enum {
  CREATE = 1, UNNAMED, LINK, UNLINK, RENAME, WRITE, TRUNCATE, ATTRIBUTES, FSYNC, FDATASYNC, SYNCFS,
  UNKNOWN, MEMORY,
};

struct record {
  uint32_t kind, mode, name_length, other_length;
  uint64_t node, parent, other_parent, data_length;
  int64_t offset, modified, changed, parent_changed, other_changed;
};

struct identity {
  uint64_t real, earlier;
  int64_t birth, real_changed, changed;
};

static int log_file = -1;
static dev_t device;
static const char *boot;
static struct identity *identities;
static size_t identity_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

#define NEXT(result, name, ...)                   \
  static result (*next)(__VA_ARGS__);             \
  if (next == NULL) next = (result(*)(__VA_ARGS__))real(name)

static int stat_at(int folder, const char *path, struct stat *status, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

static int stat_of(int file, struct stat *status) {
  return stat_at(file, "", status, AT_EMPTY_PATH);
}

static int64_t nanoseconds(struct timespec time) {
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct timespec timespec_of(int64_t time) {
  return (struct timespec){time / 1000000000, time % 1000000000};
}

static void read_identities(const char *path) {
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || stat_of(file, &status) != 0) return;
  identities = malloc((size_t)status.st_size + 1);
  ssize_t count = syscall(SYS_read, file, identities, status.st_size);
  syscall(SYS_close, file);
  identity_count = count > 0 ? (size_t)count / sizeof *identities : 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *record = getenv("FAULT_RECORD");
  const char *root = getenv("FAULT_ROOT");
  const char *nodes = getenv("FAULT_NODES");
  boot = getenv("FAULT_BOOT");
  struct stat status;
  if (root != NULL && stat_at(AT_FDCWD, root, &status, 0) == 0) device = status.st_dev;
  if (nodes != NULL) read_identities(nodes);
  if (record != NULL) {
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int file = (int)syscall(SYS_openat, AT_FDCWD, record, flags, 0644);
    // A number out of the way of the program's own files.
    log_file = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, file);
    if (log_file < 0) abort();
  }
  unsetenv("LD_PRELOAD");
}

// MARK: Recording

static void lock(void) {
  pthread_mutex_lock(&mutex);
  syscall(SYS_flock, log_file, LOCK_EX);
}

static void unlock(void) {
  syscall(SYS_flock, log_file, LOCK_UN);
  pthread_mutex_unlock(&mutex);
}

static void put(struct record record, const char *name, const char *other, const void *data) {
  record.name_length = name != NULL ? (uint32_t)strlen(name) : 0;
  record.other_length = other != NULL ? (uint32_t)strlen(other) : 0;
  struct iovec parts[] = {
    {&record, sizeof record},
    {(void *)name, record.name_length},
    {(void *)other, record.other_length},
    {(void *)data, record.data_length},
  };
  size_t size = sizeof record + record.name_length + record.other_length + record.data_length;
  if (syscall(SYS_writev, log_file, parts, 4) != (ssize_t)size) abort();
}

/// A name in a folder, found before the call that may remove it.
struct entry {
  struct stat folder;
  char name[NAME_MAX + 1];
};

static struct entry entry_of(int folder, const char *path) {
  struct entry entry = {0};
  char place[PATH_MAX];
  snprintf(place, sizeof place, "%s", path);
  size_t length = strlen(place);
  while (length > 1 && place[length - 1] == '/') place[--length] = 0;
  char *slash = strrchr(place, '/');
  snprintf(entry.name, sizeof entry.name, "%s", slash != NULL ? slash + 1 : place);
  const char *parent = ".";
  if (slash != NULL) {
    *slash = 0;
    parent = slash == place ? "/" : place;
  }
  if (stat_at(folder, parent, &entry.folder, 0) != 0) entry.folder.st_dev = 0;
  return entry;
}

/// Returns the time of the last change of names in a folder, which the call has just set.
static int64_t time_of(int folder, const char *path, const struct entry *entry) {
  char place[PATH_MAX];
  struct stat status;
  snprintf(place, sizeof place, "%s", path);
  size_t length = strlen(place), name = strlen(entry->name);
  while (length > 1 && place[length - 1] == '/') place[--length] = 0;
  place[length - name] = 0;
  return stat_at(folder, length > name ? place : ".", &status, 0) == 0 ? nanoseconds(status.st_mtim) : 0;
}

static int is_watched(const struct stat *status) {
  return log_file >= 0 && status->st_dev == device;
}

/// Starts the record of a node with the times that it has now.
static struct record record_of(uint32_t kind, const struct stat *status) {
  return (struct record){
    .kind = kind,
    .mode = status->st_mode,
    .node = status->st_ino,
    .modified = nanoseconds(status->st_mtim),
    .changed = nanoseconds(status->st_ctim),
  };
}

/// Records a new name of a node; the data is the text of a symbolic link.
static void put_name(uint32_t kind, int folder, const char *path, const char *data) {
  struct entry entry = entry_of(folder, path);
  struct stat status;
  if (!is_watched(&entry.folder)) return;
  if (stat_at(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  struct record record = record_of(kind, &status);
  record.parent = entry.folder.st_ino;
  record.parent_changed = nanoseconds(entry.folder.st_mtim);
  record.data_length = data != NULL ? strlen(data) : 0;
  put(record, entry.name, NULL, data);
}

static int is_boot(const char *path) {
  size_t length = strlen(path);
  return boot != NULL && length >= 7 && strcmp(path + length - 7, "boot_id") == 0;
}

typedef int (*Open)(int, const char *, int, mode_t);

static int open_recorded(Open next, int folder, const char *path, int flags, mode_t mode) {
  if (is_boot(path)) path = boot;
  int isUnnamed = (flags & O_TMPFILE) == O_TMPFILE;
  if (log_file < 0 || !(flags & (O_CREAT | O_TRUNC) || isUnnamed))
    return next(folder, path, flags, mode);
  lock();
  struct stat before, after;
  int existed = stat_at(folder, path, &before, 0) == 0;
  int file = next(folder, path, flags, mode);
  int error = errno;
  if (file >= 0 && stat_of(file, &after) == 0 && is_watched(&after)) {
    if (isUnnamed) {
      put(record_of(UNNAMED, &after), NULL, NULL, NULL);
    } else if (!existed) {
      put_name(CREATE, folder, path, NULL);
    } else if (flags & O_TRUNC && S_ISREG(after.st_mode) && before.st_size > 0) {
      put(record_of(TRUNCATE, &after), NULL, NULL, NULL);
    }
  }
  unlock();
  errno = error;
  return file;
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENAT(name)                                       \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(int, #name, int, const char *, int, mode_t);      \
    va_list rest;                                          \
    va_start(rest, flags);                                 \
    mode_t mode = mode_of(flags, rest);                    \
    va_end(rest);                                          \
    return open_recorded(next, folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

static int open_here(int folder, const char *path, int flags, mode_t mode) {
  NEXT(int, "openat", int, const char *, int, mode_t);
  return next(folder, path, flags, mode);
}

#define OPEN(name)                                               \
  int name(const char *path, int flags, ...) {                   \
    va_list rest;                                                \
    va_start(rest, flags);                                       \
    mode_t mode = mode_of(flags, rest);                          \
    va_end(rest);                                                \
    return open_recorded(open_here, AT_FDCWD, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

static int is_watched_file(int file) {
  struct stat status;
  if (log_file < 0 || stat_of(file, &status) != 0) return 0;
  return S_ISREG(status.st_mode) && is_watched(&status);
}

static void put_write(int file, const void *bytes, ssize_t size, off_t offset) {
  struct stat status;
  if (size <= 0 || stat_of(file, &status) != 0) return;
  struct record record = record_of(WRITE, &status);
  record.offset = offset;
  record.data_length = (uint64_t)size;
  put(record, NULL, NULL, bytes);
}

ssize_t write(int file, const void *bytes, size_t size) {
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (!is_watched_file(file)) return next(file, bytes, size);
  lock();
  ssize_t count = next(file, bytes, size);
  int error = errno;
  // Also right for O_APPEND, which moves the position to the end first.
  put_write(file, bytes, count, syscall(SYS_lseek, file, 0, SEEK_CUR) - count);
  unlock();
  errno = error;
  return count;
}

#define PWRITE(name, offset_type)                                                  \
  ssize_t name(int file, const void *bytes, size_t size, offset_type offset) {     \
    NEXT(ssize_t, #name, int, const void *, size_t, offset_type);                  \
    if (!is_watched_file(file)) return next(file, bytes, size, offset);            \
    lock();                                                                        \
    ssize_t count = next(file, bytes, size, offset);                               \
    int error = errno;                                                             \
    put_write(file, bytes, count, offset);                                         \
    unlock();                                                                      \
    errno = error;                                                                 \
    return count;                                                                  \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(ssize_t, "writev", int, const struct iovec *, int);
  if (!is_watched_file(file)) return next(file, parts, count);
  ssize_t sum = 0;
  for (int part = 0; part < count; part++) {
    ssize_t written = write(file, parts[part].iov_base, parts[part].iov_len);
    if (written < 0) return sum > 0 ? sum : -1;
    sum += written;
    if ((size_t)written < parts[part].iov_len) break;
  }
  return sum;
}

/// Returns a descriptor of a file that this process has mapped; negative without one.
///
/// The descriptor stays open: any close of the file would drop SQLite's locks on it.
static int mapped_file(const char *path) {
  static struct { uint64_t node; int file; } known[64];
  static int count;
  struct stat status;
  if (stat_at(AT_FDCWD, path, &status, 0) != 0) return -1;
  for (int index = 0; index < count; index++) {
    if (known[index].node == status.st_ino) return known[index].file;
  }
  if (count == 64) return -1;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  known[count].node = status.st_ino;
  known[count++].file = file;
  return file;
}

/// Records the shared memory of a log that was synced.
static void put_memory(int log) {
  static char bytes[32 * 1024];
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", log);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 4 || strncmp(path + length - 4, "-wal", 4) != 0) return;
  memcpy(path + length - 3, "shm", 4);
  int file = mapped_file(path);
  if (file < 0) return;
  // The head and the first block of the index of frames.
  ssize_t count = syscall(SYS_pread64, file, bytes, sizeof bytes, 0);
  struct stat status;
  if (count <= 0 || stat_of(file, &status) != 0) return;
  struct record record = record_of(MEMORY, &status);
  record.data_length = (uint64_t)count;
  put(record, NULL, NULL, bytes);
}

/// Records a call on an open file that returned 0.
#define ON_FILE(name, kind, size, parameters, ...)                             \
  int name parameters {                                                        \
    NEXT(int, #name, __VA_ARGS__);                                             \
    struct stat status;                                                        \
    if (stat_of(file, &status) != 0 || !is_watched(&status)) return next CALL; \
    lock();                                                                    \
    int result = next CALL;                                                    \
    int error = errno;                                                         \
    if (result == 0 && stat_of(file, &status) == 0) {                          \
      struct record record = record_of(kind, &status);                         \
      record.offset = size;                                                    \
      put(record, NULL, NULL, NULL);                                           \
      if (kind == FDATASYNC || kind == FSYNC) put_memory(file);                \
    }                                                                          \
    unlock();                                                                  \
    errno = error;                                                             \
    return result;                                                             \
  }
#define CALL (file)
ON_FILE(fsync, FSYNC, 0, (int file), int)
ON_FILE(fdatasync, FDATASYNC, 0, (int file), int)
ON_FILE(syncfs, SYNCFS, 0, (int file), int)
#undef CALL
#define CALL (file, value)
ON_FILE(ftruncate, TRUNCATE, value, (int file, off_t value), int, off_t)
ON_FILE(ftruncate64, TRUNCATE, value, (int file, off64_t value), int, off64_t)
ON_FILE(fchmod, ATTRIBUTES, 0, (int file, mode_t value), int, mode_t)
ON_FILE(futimens, ATTRIBUTES, 0, (int file, const struct timespec value[2]), int, const struct timespec *)
#undef CALL
#define CALL (file, first, second)
ON_FILE(posix_fallocate, UNKNOWN, 0, (int file, off_t first, off_t second), int, off_t, off_t)
#undef CALL

static void put_attributes(int folder, const char *path, int flags) {
  struct stat status;
  if (stat_at(folder, path, &status, flags) != 0 || !is_watched(&status)) return;
  put(record_of(ATTRIBUTES, &status), NULL, NULL, NULL);
}

int fchmodat(int folder, const char *path, mode_t mode, int flags) {
  NEXT(int, "fchmodat", int, const char *, mode_t, int);
  if (log_file < 0) return next(folder, path, mode, flags);
  lock();
  int result = next(folder, path, mode, flags);
  int error = errno;
  if (result == 0) put_attributes(folder, path, flags);
  unlock();
  errno = error;
  return result;
}

int chmod(const char *path, mode_t mode) {
  return fchmodat(AT_FDCWD, path, mode, 0);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  NEXT(int, "utimensat", int, const char *, const struct timespec *, int);
  if (log_file < 0) return next(folder, path, times, flags);
  lock();
  int result = next(folder, path, times, flags);
  int error = errno;
  if (result == 0) put_attributes(folder, path, flags);
  unlock();
  errno = error;
  return result;
}

static int make(int result, uint32_t kind, int folder, const char *path, const char *data) {
  int error = errno;
  if (result == 0) put_name(kind, folder, path, data);
  unlock();
  errno = error;
  return result;
}

int mkdirat(int folder, const char *path, mode_t mode) {
  NEXT(int, "mkdirat", int, const char *, mode_t);
  if (log_file < 0) return next(folder, path, mode);
  lock();
  return make(next(folder, path, mode), CREATE, folder, path, NULL);
}

int mkdir(const char *path, mode_t mode) {
  return mkdirat(AT_FDCWD, path, mode);
}

int symlinkat(const char *target, int folder, const char *path) {
  NEXT(int, "symlinkat", const char *, int, const char *);
  if (log_file < 0) return next(target, folder, path);
  lock();
  return make(next(target, folder, path), CREATE, folder, path, target);
}

int symlink(const char *target, const char *path) {
  return symlinkat(target, AT_FDCWD, path);
}

int linkat(int from, const char *old, int folder, const char *path, int flags) {
  NEXT(int, "linkat", int, const char *, int, const char *, int);
  if (log_file < 0) return next(from, old, folder, path, flags);
  lock();
  return make(next(from, old, folder, path, flags), LINK, folder, path, NULL);
}

int link(const char *old, const char *path) {
  return linkat(AT_FDCWD, old, AT_FDCWD, path, 0);
}

int unlinkat(int folder, const char *path, int flags) {
  NEXT(int, "unlinkat", int, const char *, int);
  if (log_file < 0) return next(folder, path, flags);
  lock();
  struct entry entry = entry_of(folder, path);
  int result = next(folder, path, flags);
  int error = errno;
  if (result == 0 && is_watched(&entry.folder)) {
    struct record record = {.kind = UNLINK, .parent = entry.folder.st_ino};
    record.parent_changed = time_of(folder, path, &entry);
    put(record, entry.name, NULL, NULL);
  }
  unlock();
  errno = error;
  return result;
}

int unlink(const char *path) {
  return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat2(int from, const char *old, int folder, const char *path, unsigned flags) {
  NEXT(int, "renameat2", int, const char *, int, const char *, unsigned);
  if (log_file < 0) return next(from, old, folder, path, flags);
  lock();
  struct entry source = entry_of(from, old), target = entry_of(folder, path);
  int result = next(from, old, folder, path, flags);
  int error = errno;
  if (result == 0 && is_watched(&source.folder)) {
    struct record record = {.kind = RENAME, .mode = flags};
    record.parent = source.folder.st_ino;
    record.other_parent = target.folder.st_ino;
    record.parent_changed = time_of(from, old, &source);
    record.other_changed = time_of(folder, path, &target);
    put(record, source.name, target.name, NULL);
  }
  unlock();
  errno = error;
  return result;
}

int renameat(int from, const char *old, int folder, const char *path) {
  return renameat2(from, old, folder, path, 0);
}

int rename(const char *old, const char *path) {
  return renameat2(AT_FDCWD, old, AT_FDCWD, path, 0);
}

int ioctl(int file, unsigned long request, ...) {
  NEXT(int, "ioctl", int, unsigned long, void *);
  va_list rest;
  va_start(rest, request);
  void *value = va_arg(rest, void *);
  va_end(rest);
  // FICLONE: the file systems in memory cannot clone, so no replay knows it.
  if (request != 0x40049409UL || !is_watched_file(file)) return next(file, request, value);
  lock();
  int result = next(file, request, value);
  int error = errno;
  struct stat status;
  if (result == 0 && stat_of(file, &status) == 0) put(record_of(UNKNOWN, &status), NULL, NULL, NULL);
  unlock();
  errno = error;
  return result;
}

// MARK: Earlier identities

static struct identity *identity_of(uint64_t node) {
  for (size_t index = 0; index < identity_count; index++) {
    if (identities[index].real == node) return &identities[index];
  }
  return NULL;
}

static int with_identity(int result, struct stat *status) {
  if (result != 0 || identity_count == 0) return result;
  struct identity *identity = identity_of(status->st_ino);
  if (identity == NULL) return result;
  status->st_ino = identity->earlier;
  if (nanoseconds(status->st_ctim) == identity->real_changed)
    status->st_ctim = timespec_of(identity->changed);
  return result;
}


#define STATUS(name, parameters, call)               \
  int name parameters {                              \
    return with_identity(call, (struct stat *)status); \
  }
STATUS(fstat, (int file, struct stat *status), stat_of(file, status))
STATUS(fstat64, (int file, struct stat64 *status), stat_of(file, (struct stat *)status))
STATUS(stat, (const char *path, struct stat *status), stat_at(AT_FDCWD, path, status, 0))
STATUS(stat64, (const char *path, struct stat64 *status), stat_at(AT_FDCWD, path, (struct stat *)status, 0))
STATUS(lstat, (const char *path, struct stat *status), stat_at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW))
STATUS(lstat64, (const char *path, struct stat64 *status),
  stat_at(AT_FDCWD, path, (struct stat *)status, AT_SYMLINK_NOFOLLOW))
STATUS(fstatat, (int folder, const char *path, struct stat *status, int flags),
  stat_at(folder, path, status, flags))
STATUS(fstatat64, (int folder, const char *path, struct stat64 *status, int flags),
  stat_at(folder, path, (struct stat *)status, flags))

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
  // The identity is known by the inode number.
  int result = (int)syscall(SYS_statx, folder, path, flags, mask | STATX_INO | STATX_CTIME, status);
  if (result != 0 || identity_count == 0) return result;
  struct identity *identity = identity_of(status->stx_ino);
  if (identity == NULL) return result;
  status->stx_ino = identity->earlier;
  status->stx_btime.tv_sec = identity->birth / 1000000000;
  status->stx_btime.tv_nsec = (uint32_t)(identity->birth % 1000000000);
  int64_t changed = status->stx_ctime.tv_sec * 1000000000LL + status->stx_ctime.tv_nsec;
  if (changed == identity->real_changed) {
    status->stx_ctime.tv_sec = identity->changed / 1000000000;
    status->stx_ctime.tv_nsec = (uint32_t)(identity->changed % 1000000000);
  }
  return result;
}
