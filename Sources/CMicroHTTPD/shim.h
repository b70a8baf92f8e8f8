#pragma once
#include <linux/openat2.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Leaves escapes alone: the path is decoded once, by the server's own rules. */
static inline size_t prefetch_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/* MHD_start_daemon takes its options as variable arguments, which Swift cannot pass. */
static inline struct MHD_Daemon *prefetch_start_daemon(
    int listen_socket, unsigned int connection_limit, unsigned int timeout_seconds,
    MHD_AccessHandlerCallback handler, void *context) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handler, context,
      MHD_OPTION_LISTEN_SOCKET, listen_socket,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_UNESCAPE_CALLBACK, prefetch_keep_escapes, NULL,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_END);
}

/* syscall takes variable arguments, and the C library has no openat2. */
static inline int prefetch_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}
