// GNU functions that the Glibc module lacks, since it is built without _GNU_SOURCE.
#pragma once
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/statfs.h>

static inline int prefetch_syncfs(int descriptor) {
  extern int syncfs(int);
  return syncfs(descriptor);
}
// Begins to write a file's changed pages to the disk, and does not wait for them.
static inline int prefetch_begin_writeback(int descriptor) {
  extern int sync_file_range(int, long long, long long, unsigned int);
  return sync_file_range(descriptor, 0, 0, 2 /* SYNC_FILE_RANGE_WRITE */);
}
static inline int prefetch_memfd_create(const char *name, unsigned int flags) {
  extern int memfd_create(const char *, unsigned int);
  return memfd_create(name, flags);
}
static inline int prefetch_hide_memory(void) {
  extern int prctl(int, ...);
  return prctl(4 /* PR_SET_DUMPABLE */, 0L, 0L, 0L, 0L);
}
static inline int prefetch_clone_file(int target, int source) {
  extern int ioctl(int, unsigned long, ...);
  return ioctl(target, 0x40049409UL /* FICLONE */, source);
}
// Returns a file's creation time in nanoseconds since 1970; zero where the file system has none. An
// empty name stands for the descriptor itself.
static inline long long prefetch_birth(int folder, const char *name) {
  extern int statx(int, const char *, int, unsigned int, struct statx *);
  struct statx status;
  int flags = AT_SYMLINK_NOFOLLOW | 0x1000 /* AT_EMPTY_PATH */;
  if (statx(folder, name, flags, STATX_BTIME, &status) != 0) return 0;
  if (!(status.stx_mask & STATX_BTIME)) return 0;
  return status.stx_btime.tv_sec * 1000000000LL + status.stx_btime.tv_nsec;
}
// Returns the file system's magic number; zero when it is unknown.
static inline unsigned int prefetch_file_system_kind(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (unsigned int)status.f_type : 0;
}
