/*
 * Stands for ffmpeg or ffprobe in a run of the tests: asks the warm tool for a process and ends as that ends. Where the
 * process itself matters (traced, in namespaces or with libraries of its own), or where no warm tool answers, it becomes
 * the tool.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "warm-tool.h"

static int server;

static void passOn(int signal) {
  unsigned char byte = signal;
  (void)!write(server, &byte, 1);
}

static int isTraced(void) {
  char status[4096] = "";
  int file = open("/proc/self/status", O_RDONLY);
  (void)!read(file, status, sizeof status - 1);
  close(file);
  char *tracer = strstr(status, "TracerPid:");
  return !tracer || atoi(tracer + 10) != 0;
}

static int isElsewhere(void) {
  const char *names[] = {"mnt", "net", "user", "pid"}, *known[] = {NAMESPACES};
  for (int i = 0; i < 4; i++) {
    char path[32], found[64] = "";
    snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
    if (readlink(path, found, sizeof found - 1) < 0 || strcmp(found, known[i])) return 1;
  }
  return geteuid() != USER;
}

static int reach(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
  server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return connect(server, (struct sockaddr *)&address, sizeof address) == 0;
}

static size_t lengthOf(char **words, int *count) {
  size_t bytes = 0;
  for (*count = 0; words[*count]; ++*count) bytes += strlen(words[*count]) + 1;
  return bytes;
}

static void sendWords(char **words) {
  for (; *words; words++)
    for (size_t sent = 0, all = strlen(*words) + 1; sent < all;) {
      ssize_t now = write(server, *words + sent, all - sent);
      if (now < 0) _exit(1);
      sent += now;
    }
}

int main(int count, char **arguments) {
  if (getenv("LD_LIBRARY_PATH") || getenv("LD_PRELOAD") || isTraced() || isElsewhere() || !reach()) {
    execv(TOOL, arguments);
    return 127;
  }
  struct call call = {.niceness = getpriority(PRIO_PROCESS, 0), .mask = umask(0), .fds = 1};
  int fds[MOST_FDS + 1] = {open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  for (int fd = 0; fd < MOST_FDS - 1; fd++)
    if (fd != server && fd != fds[0] && fcntl(fd, F_GETFD) >= 0) {
      call.numbers[call.fds] = fd;
      fds[call.fds++] = fd;
    }
  for (int i = 0; i < RLIM_NLIMITS; i++) getrlimit(i, &call.limits[i]);
  call.bytes = lengthOf(arguments, &call.arguments) + lengthOf(environ, &call.variables);
  char control[CMSG_SPACE(sizeof fds)] = {0};
  struct iovec body = {&call, sizeof call};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control};
  message.msg_controllen = CMSG_SPACE(call.fds * sizeof *fds);
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  rights->cmsg_len = CMSG_LEN(call.fds * sizeof *fds);
  memcpy(CMSG_DATA(rights), fds, call.fds * sizeof *fds);
  const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  const struct sigaction action = {.sa_handler = passOn, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) sigaction(passed[i], &action, 0);
  if (sendmsg(server, &message, 0) != sizeof call) return 1;
  sendWords(arguments);
  sendWords(environ);
  /* What the tool closes is closed. */
  for (int i = 0; i < call.fds; i++) close(fds[i]);
  int status;
  if (read(server, &status, sizeof status) != sizeof status) raise(SIGKILL);
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}
