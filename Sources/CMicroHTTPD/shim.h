#pragma once
#include <linux/openat2.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Keeps percent-encoding, since the server decodes the path itself. */
static inline size_t prefetch_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/* MHD_start_daemon takes its options as variable arguments, which Swift cannot pass. */
static inline struct MHD_Daemon *prefetch_start_daemon(
    int listen_socket, unsigned int threads, unsigned int connection_limit, size_t head_limit,
    unsigned int timeout_seconds, void *(*begun)(void *, const char *, struct MHD_Connection *),
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback ended,
    MHD_NotifyConnectionCallback noted, void *context) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
      MHD_OPTION_LISTEN_SOCKET, listen_socket,
      MHD_OPTION_THREAD_POOL_SIZE, threads,
      MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, head_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_UNESCAPE_CALLBACK, prefetch_keep_escapes, NULL,
      MHD_OPTION_URI_LOG_CALLBACK, begun, context,
      MHD_OPTION_NOTIFY_COMPLETED, ended, context,
      MHD_OPTION_NOTIFY_CONNECTION, noted, context,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_END);
}

/* MHD_get_connection_info is variadic, too. */
static inline int prefetch_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : (int)info->connect_fd;
}

/* syscall takes variable arguments, and the C library has no openat2. */
static inline int prefetch_open_beneath(int folder, const char *path, int flags) {
  struct open_how how = {
      .flags = (unsigned)flags,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}
