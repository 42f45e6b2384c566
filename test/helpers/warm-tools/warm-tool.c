/*
 * Loaded into ffmpeg or ffprobe. Stops it when its 200 libraries are bound and before its main runs, and runs main in a
 * fork of that process for each call: binding the libraries is most of what a short call costs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "warm-tool.h"

/* Above all that are handed over. */
#define FIRST_FREE_FD 100

typedef int program(int, char **, char **);
static program *tool;

static void readAll(int from, char *into, size_t bytes) {
  while (bytes > 0) {
    ssize_t got = read(from, into, bytes);
    if (got <= 0) _exit(1);
    into += got;
    bytes -= got;
  }
}

static char **words(char **at, int count) {
  char **list = calloc(count + 1, sizeof *list);
  for (int i = 0; i < count; i++) {
    list[i] = *at;
    *at += strlen(*at) + 1;
  }
  return list;
}

/* Becomes what the caller is (folder, descriptors, limits, priority, environment), and runs the tool. */
static int runTool(struct call *call, int *fds, char *strings) {
  if (fchdir(fds[0])) _exit(1);
  for (int i = 0; i < call->fds; i++) fds[i] = fcntl(fds[i], F_DUPFD, FIRST_FREE_FD);
  close_range(0, FIRST_FREE_FD - 1, 0);
  for (int i = 1; i < call->fds; i++) dup2(fds[i], call->numbers[i]);
  close_range(FIRST_FREE_FD, ~0U, 0);
  for (int i = 0; i < RLIM_NLIMITS; i++) setrlimit(i, &call->limits[i]);
  setpriority(PRIO_PROCESS, 0, call->niceness);
  umask(call->mask);
  char **arguments = words(&strings, call->arguments);
  environ = words(&strings, call->variables);
  return tool(call->arguments, arguments, environ);
}

/* Reads a call. The process that runs it is a child of this one, which passes signals on and says how it ended. */
static int serveCall(int caller) {
  struct call call;
  int fds[MOST_FDS + 1];
  char control[CMSG_SPACE(sizeof fds)];
  struct iovec body = {&call, sizeof call};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(caller, &message, MSG_WAITALL) != sizeof call || !CMSG_FIRSTHDR(&message)) _exit(1);
  memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), call.fds * sizeof *fds);
  char *strings = malloc(call.bytes);
  readAll(caller, strings, call.bytes);
  signal(SIGCHLD, SIG_DFL);
  pid_t running = fork();
  if (running < 0) _exit(1);
  if (running == 0) return runTool(&call, fds, strings);
  for (int i = 0; i < call.fds; i++) close(fds[i]);
  struct pollfd events[] = {{caller, POLLIN, 0}, {syscall(SYS_pidfd_open, running, 0), POLLIN, 0}};
  for (;;) {
    poll(events, 2, -1);
    unsigned char signal = SIGKILL;
    if (events[1].revents) break;
    if (events[0].revents && read(caller, &signal, 1) != 1) events[0].fd = -1;
    if (events[0].revents) kill(running, signal);
  }
  int status;
  waitpid(running, &status, 0);
  (void)!write(caller, &status, sizeof status);
  _exit(0);
}

static int serve(int count, char **arguments, char **environment) {
  (void)count, (void)arguments, (void)environment;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, getenv("WARM_SOCKET"), sizeof address.sun_path - 1);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 100)) return 1;
  (void)!write(1, "ready\n", 6);
  signal(SIGCHLD, SIG_IGN);
  /* Its input ends with the run of the tests. */
  struct pollfd events[] = {{listener, POLLIN, 0}, {0, POLLIN, 0}};
  for (;;) {
    poll(events, 2, -1);
    if (events[1].revents) _exit(0);
    int caller = accept4(listener, 0, 0, SOCK_CLOEXEC);
    if (caller < 0) continue;
    if (fork() == 0) {
      close(listener);
      return serveCall(caller);
    }
    close(caller);
  }
}

int __libc_start_main(program *main, int count, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*linkerFini)(void), void *stackEnd) {
  int (*start)(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  tool = main;
  unsetenv("LD_PRELOAD");
  return start(serve, count, arguments, init, fini, linkerFini, stackEnd);
}
