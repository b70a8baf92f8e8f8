#define _GNU_SOURCE
#include "zygote.h"

#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Buffer for the three streams that are sent with a message.
union control {
  char bytes[CMSG_SPACE(3 * sizeof(int))];
  struct cmsghdr header;
};

struct request {
  int streams[3];
  char *folder;
  int word_count;
  char **words;
  char **variables;
};

/// Splits the texts of a message in place.
static char **texts(char **next, char *end, int count) {
  char **list = calloc((size_t)count + 1, sizeof *list);
  for (int index = 0; index < count && *next < end; index++) {
    list[index] = *next;
    *next += strlen(*next) + 1;
  }
  return list;
}

static int receive(int socket, char *buffer, size_t capacity, struct request *request) {
  union control control;
  struct iovec part = {buffer, capacity - 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t count;
  do count = recvmsg(socket, &message, 0);
  while (count < 0 && errno == EINTR);
  struct cmsghdr *streams = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (count < 8 || streams == NULL || streams->cmsg_type != SCM_RIGHTS) return 0;
  memcpy(request->streams, CMSG_DATA(streams), sizeof request->streams);
  int32_t counts[2];
  memcpy(counts, buffer, sizeof counts);
  buffer[count] = 0;
  char *next = buffer + sizeof counts;
  char *end = buffer + count;
  request->folder = next;
  next += strlen(next) + 1;
  request->word_count = counts[0];
  request->words = texts(&next, end, counts[0]);
  request->variables = texts(&next, end, counts[1]);
  return 1;
}

/// Forks a copy whose parent is this process's parent.
///
/// The kernel writes the new thread id to the place where the C library reads it.
static pid_t copy(void) {
  int *number = NULL;
  if (prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) != 0) return -1;
  long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
  return (pid_t)syscall(SYS_clone, flags, NULL, NULL, number, 0);
}

static void be(struct request *request, int socket, int (*run)(int, char **)) {
  for (int stream = 0; stream < 3; stream++) {
    if (dup2(request->streams[stream], stream) < 0) _exit(126);
    close(request->streams[stream]);
  }
  close(socket);
  if (*request->folder && chdir(request->folder) != 0) _exit(126);
  environ = request->variables;
  exit(run(request->word_count, request->words));
}

/// Resets signals to the state of a program that has just been started.
static void forget_signals(void) {
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void *prepared(void *work) {
  ((void (*)(void))work)();
  return NULL;
}

struct order {
  struct request *request;
  int socket;
  int (*run)(int, char **);
  int32_t child;
};

static void *copied(void *argument) {
  struct order *order = argument;
  order->child = copy();
  if (order->child == 0) be(order->request, order->socket, order->run);
  return NULL;
}

static int on_new_thread(void *(*work)(void *), void *argument) {
  pthread_t thread;
  return pthread_create(&thread, NULL, work, argument) == 0 && pthread_join(thread, NULL) == 0;
}

void zygote_serve(int socket, void (*prepare)(void), int (*run)(int, char **)) {
  if (!on_new_thread(prepared, (void *)prepare)) return;
  forget_signals();
  static char buffer[1 << 17];
  struct request request;
  while (receive(socket, buffer, sizeof buffer, &request)) {
    struct order order = {&request, socket, run, -1};
    if (!on_new_thread(copied, &order)) return;
    for (int stream = 0; stream < 3; stream++) close(request.streams[stream]);
    free(request.words);
    free(request.variables);
    if (send(socket, &order.child, sizeof order.child, MSG_NOSIGNAL) != sizeof order.child) return;
  }
}

pid_t zygote_start(int socket, const void *bytes, size_t size, const int streams[3]) {
  union control control = {.header = {
      .cmsg_len = CMSG_LEN(3 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  memcpy(CMSG_DATA(&control.header), streams, 3 * sizeof(int));
  struct iovec part = {(void *)bytes, size};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int32_t child = -1;
  ssize_t count;
  do count = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  do count = recv(socket, &child, sizeof child, 0);
  while (count < 0 && errno == EINTR);
  return count == sizeof child ? child : -1;
}

int process_limit(pid_t process, size_t memory, size_t file) {
  struct rlimit data = {memory, memory};
  struct rlimit size = {file, file};
  int fault = prlimit(process, RLIMIT_DATA, &data, NULL);
  return fault != 0 ? fault : prlimit(process, RLIMIT_FSIZE, &size, NULL);
}
