// A wall clock that a test sets, preloaded into a process. The file $TEST_CLOCK contains the
// milliseconds that are added to the clock, and how often the clock was set. After it was set,
// reading a timer fails in the same way as the kernel does for a timer with
// TFD_TIMER_CANCEL_ON_SET. A third number stops the clock at that Unix time in milliseconds.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int setting(long long *ms, int *times, long long *stopped_at) {
    char text[64] = "";
    int file = open(getenv("TEST_CLOCK"), O_RDONLY | O_CLOEXEC);
    int numbers = 0;
    if (file >= 0 && syscall(SYS_read, file, text, sizeof text - 1) >= 0)
        numbers = sscanf(text, "%lld %d %lld", ms, times, stopped_at);
    if (numbers < 2)
        abort();
    close(file);
    return numbers == 3;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) {
        long long ms, stopped_at;
        int times;
        if (setting(&ms, &times, &stopped_at)) {
            time->tv_sec = stopped_at / 1000;
            time->tv_nsec = stopped_at % 1000 * 1000000;
            return 0;
        }
        long long ns = time->tv_nsec + ms % 1000 * 1000000;
        long long seconds = ns < 0 ? -1 : ns / 1000000000;
        time->tv_sec += ms / 1000 + seconds;
        time->tv_nsec = ns - seconds * 1000000000;
    }
    return result;
}

ssize_t read(int file, void *buffer, size_t size) {
    char link[64], target[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, target, sizeof target - 1) > 0 && strcmp(target, "anon_inode:[timerfd]") == 0) {
        long long ms, stopped_at;
        int times;
        setting(&ms, &times, &stopped_at);
        if (times > 0) {
            errno = ECANCELED;
            return -1;
        }
    }
    return syscall(SYS_read, file, buffer, size);
}
