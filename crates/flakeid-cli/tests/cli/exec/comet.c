// A process that leaves its place to a child of its own, again and again, so that its number is a new one
// every few microseconds, in a session of its own. It ends by itself after the given seconds, and creates the given file then.
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
