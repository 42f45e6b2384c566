/* What a launcher asks a server for: one of these, together with the descriptors, and then the strings. */
#include <stdint.h>
#include <sys/resource.h>

enum { MOST_DESCRIPTORS = 16, MOST_SIGNALS = 32 };

struct request {
  uint32_t descriptors; /* passed behind that of the working directory */
  int32_t numbers[MOST_DESCRIPTORS];
  uint32_t ignored; /* one bit for each ignored signal */
  uint32_t umask;
  uint32_t arguments;
  uint32_t variables;
  uint32_t bytes; /* of all strings with their NULs: the arguments, then the variables */
  struct rlimit limits[RLIM_NLIMITS];
};

/* Room for the descriptors beside a request. */
union passed {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * (MOST_DESCRIPTORS + 1))];
};
