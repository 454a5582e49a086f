// A process that replaces itself by a child again and again, so that its process ID changes every
// few
// microseconds, in its own session. It ends after the given number of seconds, and then creates the
// given file.
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
    struct timespec begin, now;
    if (count != 3)
        return 2;
    setsid();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        switch (fork()) {
        case -1:
        case 0:
            break;
        default:
            _exit(0);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < atoi(arguments[1]));
    return creat(arguments[2], 0644) < 0;
}
