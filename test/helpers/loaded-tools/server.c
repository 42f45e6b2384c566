/*
 * Preloaded into ffmpeg or ffprobe: the program loads its libraries, and then forks for each launcher instead of running.
 * Loading takes 65 ms of processor time, a fork about 5. LOADED_TOOL_SOCKET names the socket.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "request.h"

enum { MOST_CHILDREN = 256, ABOVE_ALL_NUMBERS = 512 };

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

struct child {
  pid_t pid;
  int launcher;
};

extern char **environ;
static main_function *real_main;
static struct child children[MOST_CHILDREN];
static int count;

static void read_all(int from, char *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t got = read(from, to + done, bytes - done);
    if (got <= 0) _exit(127);
    done += got;
  }
}

static char **strings(char **at, uint32_t number) {
  char **list = calloc(number + 1, sizeof *list);
  for (uint32_t i = 0; i < number; i++, *at += strlen(*at) + 1) list[i] = *at;
  return list;
}

/* Gives the descriptors the numbers that they have in the launcher. */
static void place(int *passed, const int32_t *numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    int above = fcntl(passed[i], F_DUPFD, ABOVE_ALL_NUMBERS);
    close(passed[i]);
    passed[i] = above;
  }
  for (uint32_t i = 0; i < count; i++) {
    dup2(passed[i], numbers[i]);
    close(passed[i]);
  }
}

/* Ends without the destructors of 215 libraries, which write into their pages and so have each copied. */
static void end_now(int status, void *unused) {
  (void)unused;
  fflush(NULL);
  _exit(status);
}

/* In the child: becomes the process that the launcher would be. */
static int run_for(int launcher, int listener, const sigset_t *mask) {
  struct request request;
  union passed control;
  struct iovec part = {&request, sizeof request};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  if (recvmsg(launcher, &message, MSG_WAITALL) != sizeof request) _exit(127);
  int passed[MOST_DESCRIPTORS + 1];
  memcpy(passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int) * (request.descriptors + 1));
  char *at = malloc(request.bytes);
  read_all(launcher, at, request.bytes);
  char **argv = strings(&at, request.arguments);
  environ = strings(&at, request.variables);

  close(launcher);
  close(listener);
  for (int i = 0; i < count; i++) close(children[i].launcher);
  if (fchdir(passed[0]) != 0) _exit(127);
  close(passed[0]);
  place(passed + 1, request.numbers, request.descriptors);
  umask(request.umask);
  for (int i = 0; i < RLIM_NLIMITS; i++) setrlimit(i, &request.limits[i]);
  for (int i = 1; i < MOST_SIGNALS; i++) signal(i, request.ignored & (1u << i) ? SIG_IGN : SIG_DFL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  on_exit(end_now, NULL);
  return real_main(request.arguments, argv, environ);
}

/* Tells launchers how their children ended, and ends the children of launchers that are gone. */
static void look_after(const struct pollfd *launchers, int known) {
  for (int i = 0; i < known; i++)
    if (launchers[i].revents) kill(children[i].pid, SIGKILL);
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    int i = 0;
    while (children[i].pid != pid) i++;
    send(children[i].launcher, &status, sizeof status, MSG_NOSIGNAL);
    close(children[i].launcher);
    children[i] = children[--count];
  }
}

static int listener_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) return -1;
  return listen(listener, MOST_CHILDREN) == 0 ? listener : -1;
}

static void wake(int signal) { (void)signal; }

static int serve(int argc, char **argv, char **env) {
  const char *path = getenv("LOADED_TOOL_SOCKET");
  if (!path) return real_main(argc, argv, env);
  /* A run of the tests may be killed. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int listener = listener_at(path);
  if (listener < 0 || write(STDOUT_FILENO, "listening\n", 10) != 10) return 1;
  sigset_t blocked, mask;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  sigprocmask(SIG_BLOCK, &blocked, &mask);
  signal(SIGCHLD, wake);
  for (;;) {
    struct pollfd polled[MOST_CHILDREN + 1] = {{.fd = listener, .events = count < MOST_CHILDREN ? POLLIN : 0}};
    int known = count;
    for (int i = 0; i < known; i++) polled[i + 1].fd = children[i].launcher;
    ppoll(polled, known + 1, NULL, &mask);
    look_after(polled + 1, known);
    int launcher = polled[0].revents & POLLIN ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (launcher < 0) continue;
    pid_t pid = fork();
    if (pid == 0) return run_for(launcher, listener, &mask);
    if (pid > 0) {
      send(launcher, &pid, sizeof pid, MSG_NOSIGNAL);
      children[count++] = (struct child){pid, launcher};
    } else {
      close(launcher);
    }
  }
}

/* What starts every program, here with another `main`. */
int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  real_main = program;
  start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
