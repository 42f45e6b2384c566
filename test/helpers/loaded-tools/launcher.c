/*
 * Takes the place of ffmpeg or ffprobe: asks the server beside it for a process with its own arguments, environment,
 * descriptors and limits, passes signals on, and ends as that process does. It becomes the program itself if there is no
 * server, or if the server's process would differ: another user, other mounts, a tracer, a preloaded library.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "request.h"

static const int PASSED_ON[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
enum { SIGNALS_PASSED_ON = sizeof PASSED_ON / sizeof *PASSED_ON };

extern char **environ;
static pid_t child;

static void pass_on(int signal) { kill(child, signal); }

static int is_traced(void) {
  char status[4096] = {0};
  int file = open("/proc/self/status", O_RDONLY);
  ssize_t bytes = read(file, status, sizeof status - 1);
  close(file);
  const char *tracer = bytes > 0 ? strstr(status, "TracerPid:\t") : NULL;
  return !tracer || tracer[strlen("TracerPid:\t")] != '0';
}

/* Whether a process of the server has the rights, and sees the files, that this one has and sees. */
static int is_alike(int server) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  if (getsockopt(server, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != geteuid()) return 0;
  char path[64];
  struct stat own, other;
  snprintf(path, sizeof path, "/proc/%d/ns/mnt", peer.pid);
  return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 && own.st_ino == other.st_ino;
}

/* Returns -1 if this process must become the program. */
static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (getenv("LD_PRELOAD") || getenv("LD_LIBRARY_PATH") || is_traced()) return -1;
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 && is_alike(server)) return server;
  close(server);
  return -1;
}

/* Lists the open descriptors. Returns how many there are, or -1 if they are too many. */
static int open_descriptors(int32_t *numbers, int server) {
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) return -1;
  int found = 0;
  for (struct dirent *entry; found >= 0 && (entry = readdir(folder));) {
    int number = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || number == server || number == dirfd(folder)) continue;
    if (found == MOST_DESCRIPTORS) found = -1;
    else numbers[found++] = number;
  }
  closedir(folder);
  return found;
}

static uint32_t number_of(char **list) {
  uint32_t number = 0;
  while (list[number]) number++;
  return number;
}

/* Puts strings behind each other. Returns their bytes, also if there is nowhere to put them. */
static size_t join(char *to, char **list) {
  size_t bytes = 0;
  for (; *list; list++) {
    size_t length = strlen(*list) + 1;
    if (to) memcpy(to + bytes, *list, length);
    bytes += length;
  }
  return bytes;
}

static int send_all(int server, const char *strings, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t sent = send(server, strings + done, bytes - done, MSG_NOSIGNAL);
    if (sent <= 0) return -1;
    done += sent;
  }
  return 0;
}

/* The signals whose disposition a child inherits. */
static uint32_t ignored_signals(void) {
  uint32_t ignored = 0;
  struct sigaction action;
  for (int i = 1; i < MOST_SIGNALS; i++)
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ignored |= 1u << i;
  return ignored;
}

/* Returns -1 if this process must become the program. */
static int ask(int server, char **argv) {
  struct request request = {.ignored = ignored_signals(), .arguments = number_of(argv), .variables = number_of(environ)};
  int found = open_descriptors(request.numbers, server);
  int passed[MOST_DESCRIPTORS + 1] = {open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (found < 0 || passed[0] < 0) return -1;
  request.descriptors = found;
  memcpy(passed + 1, request.numbers, sizeof(int) * found);
  umask(request.umask = umask(0));
  for (int i = 0; i < RLIM_NLIMITS; i++) getrlimit(i, &request.limits[i]);
  request.bytes = join(NULL, argv) + join(NULL, environ);
  char *strings = malloc(request.bytes);
  join(strings + join(strings, argv), environ);

  size_t bytes = sizeof(int) * (found + 1);
  union passed control = {0};
  control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.header), passed, bytes);
  struct iovec part = {&request, sizeof request};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(bytes)};
  if (sendmsg(server, &message, MSG_NOSIGNAL) != sizeof request) return -1;
  if (send_all(server, strings, request.bytes) != 0) return -1;
  /* The other end of a pipe shall see it end when the child ends. */
  for (int i = 0; i < found; i++) close(request.numbers[i]);
  return 0;
}

static void end_as(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
}

static void pass_signals_on(void) {
  struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART}, before;
  for (int i = 0; i < SIGNALS_PASSED_ON; i++)
    if (sigaction(PASSED_ON[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(PASSED_ON[i], &passing, NULL);
}

int main(int argc, char **argv) {
  char server_path[PATH_MAX], program[PATH_MAX], own[PATH_MAX - 16] = {0};
  if (argc < 1 || readlink("/proc/self/exe", own, sizeof own - 1) <= 0) return 127;
  snprintf(server_path, sizeof server_path, "%s.socket", own);
  snprintf(program, sizeof program, "%s.program", own);
  int server = connect_to(server_path), status;
  sigset_t waiting, before;
  sigemptyset(&waiting);
  for (int i = 0; i < SIGNALS_PASSED_ON; i++) sigaddset(&waiting, PASSED_ON[i]);
  sigprocmask(SIG_BLOCK, &waiting, &before);
  if (server < 0 || ask(server, argv) != 0) {
    sigprocmask(SIG_SETMASK, &before, NULL);
    execv(program, argv);
    return 127;
  }
  if (recv(server, &child, sizeof child, MSG_WAITALL) != sizeof child) return 127;
  pass_signals_on();
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (recv(server, &status, sizeof status, MSG_WAITALL) == sizeof status) end_as(status);
  return 127;
}
