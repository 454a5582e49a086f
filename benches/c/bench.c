/* What the C border costs: flakeid_generator_next and _fill beside the same loops in Rust, which
 * rust.rs exports, in one process and in turns, so that both meet the same machine. */
#define _POSIX_C_SOURCE 200809L

#include <flakeid.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 41, CALLS = 200000, RUN = 1000, LONG_RUN = 1000000 };

void *rust_generator(const char *layout, uint64_t node);
void rust_next(const void *generator, uint64_t calls, uint64_t *sum);
void rust_fill(const void *generator, uint64_t *ids, size_t n, uint64_t calls);

static uint64_t ids[LONG_RUN];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *samples) {
    qsort(samples, ROUNDS, sizeof *samples, compare);
    return samples[ROUNDS / 2];
}

static void check(flakeid_status status) {
    if (status != FLAKEID_OK) {
        fprintf(stderr, "%s\n", flakeid_last_error());
        exit(1);
    }
}

static void c_next(const flakeid_generator *generator, uint64_t calls, uint64_t *sum) {
    uint64_t id;
    while (calls-- > 0) {
        check(flakeid_generator_next(generator, &id));
        *sum += id;
    }
}

static void c_fill(const flakeid_generator *generator, size_t n, uint64_t calls) {
    size_t count;
    while (calls-- > 0) {
        check(flakeid_generator_fill(generator, ids, n, &count));
        if (count != n) {
            fputs("a fill was cut short: its figure would be wrong\n", stderr);
            exit(1);
        }
    }
}

static void report(const char *what, double *c, double *rust, double divisor) {
    double ratios[ROUNDS], c_median, rust_median;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        ratios[round] = c[round] / rust[round];
    }
    c_median = median(c) / divisor;
    rust_median = median(rust) / divisor;
    printf("%-16s C %8.3f ns   Rust %8.3f ns   ratio %.3f\n", what, c_median, rust_median,
           median(ratios));
}

static void fills(const flakeid_generator *generator, const void *rust, const char *what, size_t n) {
    double c[ROUNDS], r[ROUNDS], start;
    const uint64_t calls = n == RUN ? 2000 : 2;
    int round;
    for (round = 0; round < ROUNDS; round++) {
        start = now();
        c_fill(generator, n, calls);
        c[round] = now() - start;
        start = now();
        rust_fill(rust, ids, n, calls);
        r[round] = now() - start;
    }
    report(what, c, r, (double)calls * (double)n);
}

int main(void) {
    double c[ROUNDS], r[ROUNDS], start;
    uint64_t sum = 0;
    int round;
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    const void *rust;
    char layout[FLAKEID_DESCRIPTOR_SIZE];
    /* 2^26 IDs in a millisecond, more than any loop can take, so nothing waits; the epoch is an
     * hour ago, because 36 bits of milliseconds last only two years. */
    snprintf(layout, sizeof layout, "t36.n1.s26@%lld/1ms", ((long long)time(NULL) - 3600) * 1000);
    rust = rust_generator(layout, 1);
    config.has = FLAKEID_HAS_NODE;
    config.layout = layout;
    check(flakeid_generator_new(&config, &generator));
    for (round = 0; round < ROUNDS; round++) {
        start = now();
        c_next(generator, CALLS, &sum);
        c[round] = now() - start;
        start = now();
        rust_next(rust, CALLS, &sum);
        r[round] = now() - start;
    }
    report("next", c, r, CALLS);
    fills(generator, rust, "fill of 1000", RUN);
    fills(generator, rust, "fill of 1000000", LONG_RUN);
    flakeid_generator_free(generator);
    return sum == 0;
}
