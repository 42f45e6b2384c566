/* What the caller of a warm tool tells it, before the strings of its arguments and its environment. */
#include <sys/resource.h>
#include <sys/types.h>

/* Descriptors that are handed over: the folder it runs in, and then those from 0 on that are open. */
#define MOST_FDS 10

struct call {
  int arguments, variables, fds, numbers[MOST_FDS], niceness;
  mode_t mask;
  size_t bytes;
  struct rlimit limits[RLIM_NLIMITS];
};
