/* Functions that measure the cost of a call through JNI, JNA and the foreign-function interface. They do nothing, or the
 * minimum for an exact ID: read the processor's counter and make one compare-and-swap. */

#include <jni.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

JNIEXPORT jlong JNICALL Java_Calls_jni(JNIEnv *env, jclass of, jlong value) {
    (void)env;
    (void)of;
    return value;
}

JNIEXPORT int64_t nothing(int64_t value) { return value; }

/* On processors whose counter flakeid does not read, its default is the system's clock. */
static uint64_t counter(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
#endif
}

static _Atomic uint64_t word;
static volatile uint64_t read_last;

/* Takes a number, like a generator's function, which takes its address. */
JNIEXPORT int64_t counted(int64_t value) {
    uint64_t before = atomic_load_explicit(&word, memory_order_relaxed);
    (void)value;
    read_last = counter();
    while (!atomic_compare_exchange_weak_explicit(&word, &before, before + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
    return (int64_t)(before + 1);
}

JNIEXPORT jlong JNICALL Java_Calls_counted(JNIEnv *env, jclass of, jlong value) {
    (void)env;
    (void)of;
    return counted(value);
}
