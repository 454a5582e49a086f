/* Measures the cost of a call from C: compares flakeid_generator_next and _fill with the same loops in Rust, which
 * rust.rs exports, and with a C program without a library. All run in one process and in turn, so that they share the
 * conditions of the machine. Prints Markdown; --json FILE also writes the figures as JSON. */
#define _POSIX_C_SOURCE 200809L

#include <flakeid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 301, CALLS = 200000, RUN = 1000, LONG_RUN = 1000000, ROWS = 10 };

void *rust_generator(const char *layout, uint64_t node);
void rust_next(const void *generator, uint64_t calls, uint64_t *sum);
void rust_fill(const void *generator, uint64_t *ids, size_t n, uint64_t calls);
int32_t rust_fill_once(const void *generator, uint64_t *ids, size_t n, size_t *count);

static uint64_t ids[LONG_RUN];
/* Keeps the compiler from removing the loops. */
static volatile uint64_t sink;

static const flakeid_generator *generator;
static const void *rust;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void check(flakeid_status status) {
    if (status != FLAKEID_OK) {
        fprintf(stderr, "%s\n", flakeid_last_error());
        exit(1);
    }
}

static void check_whole(size_t n, size_t count) {
    if (count != n) {
        fputs("a fill was cut short: its figure would be wrong\n", stderr);
        exit(1);
    }
}

static void in_c(size_t n, uint64_t calls) {
    uint64_t id = 0, sum = 0;
    size_t count;
    if (n == 1) {
        while (calls-- > 0) {
            check(flakeid_generator_next(generator, &id));
            sum += id;
        }
        sink = sum;
        return;
    }
    while (calls-- > 0) {
        check(flakeid_generator_fill(generator, ids, n, &count));
        check_whole(n, count);
    }
}

/* Calls Rust's fill, one call of a shared library each, which lets no panic through. */
static void by_call(size_t n, uint64_t calls) {
    size_t count;
    while (calls-- > 0) {
        check(rust_fill_once(rust, ids, n, &count));
        check_whole(n, count);
    }
}

static void in_rust(size_t n, uint64_t calls) {
    uint64_t sum = 0;
    if (n == 1) {
        rust_next(rust, calls, &sum);
        sink = sum;
    } else {
        rust_fill(rust, ids, n, calls);
    }
}

/* Reads the clock for one ID, and writes base + i for many. */
static void by_hand(size_t n, uint64_t calls) {
    struct timespec time;
    uint64_t sum = 0, base;
    size_t i;
    while (calls-- > 0) {
        if (n == 1) {
            clock_gettime(CLOCK_REALTIME, &time);
            sum += (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
            continue;
        }
        base = sink;
        for (i = 0; i < n; i++) {
            ids[i] = base + i;
        }
    }
    sink = sum;
}

typedef struct {
    const char *id, *label, *role;
    size_t n;
    void (*run)(size_t n, uint64_t calls);
    int floor; /* the row that its ratio is to */
    double samples[MOST_ROUNDS];
} row;

static row rows[ROWS] = {
    {"c.next.floor", "`next` in Rust: the floor", "floor", 1, in_rust, 0, {0}},
    {"c.next", "flakeid `flakeid_generator_next` in C", "ours", 1, in_c, 0, {0}},
    {"c.clock", "`clock_gettime` to milliseconds, in C", "rival", 1, by_hand, 0, {0}},
    {"c.fill-1000.floor", "`fill` of 1000 in Rust", NULL, RUN, in_rust, 3, {0}},
    {"c.fill-1000.bound", "the same by a guarded call of a shared library, from C: the bound", NULL, RUN,
     by_call, 3, {0}},
    {"c.fill-1000", "flakeid `flakeid_generator_fill` of 1000 in C", NULL, RUN, in_c, 3, {0}},
    {"c.rising-1000", "`base + i` into 1000, in C", NULL, RUN, by_hand, 3, {0}},
    {"c.fill-1m.floor", "`fill` of 1 M in Rust", NULL, LONG_RUN, in_rust, 7, {0}},
    {"c.fill-1m", "flakeid `flakeid_generator_fill` of 1 M in C", NULL, LONG_RUN, in_c, 7, {0}},
    {"c.rising-1m", "`base + i` into 1 M, in C", NULL, LONG_RUN, by_hand, 7, {0}},
};

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the numbers and returns the median. */
static double median(double *samples, int rounds) {
    qsort(samples, (size_t)rounds, sizeof *samples, compare);
    return samples[rounds / 2];
}

static void measure(int rounds) {
    int round, turn;
    for (round = 0; round < rounds; round++) {
        if (round % 50 == 0) {
            fprintf(stderr, "c: round %d of %d\n", round, rounds);
        }
        for (turn = 0; turn < ROWS; turn++) {
            row *row = &rows[(round + turn) % ROWS];
            const uint64_t calls = row->n == 1 ? CALLS : row->n == RUN ? 20000 : 20;
            const double start = now();
            row->run(row->n, calls);
            row->samples[round] = (now() - start) / (double)calls / (double)row->n;
        }
    }
}

static double ratio(const row *of, const row *to, int rounds) {
    double ratios[MOST_ROUNDS];
    int round;
    for (round = 0; round < rounds; round++) {
        ratios[round] = of->samples[round] / to->samples[round];
    }
    return median(ratios, rounds);
}

enum { TARGETS = 3 };

static const struct {
    const char *id, *what, *limit;
    int row, to;
} targets[TARGETS] = {
    {"C1", "`flakeid_generator_next` in C / in Rust", "1.05", 1, 0},
    {"C2", "`flakeid_generator_fill` of 1000 in C / in Rust", "1.02", 5, 3},
    {"C2", "`flakeid_generator_fill` of 1000 in C / a guarded call of a shared library, which is its bound",
     "1.05", 5, 4},
};

static void print_row(FILE *json, const row *row, double to_floor, int rounds, int last) {
    double sorted[MOST_ROUNDS], mid;
    memcpy(sorted, row->samples, sizeof sorted);
    mid = median(sorted, rounds);
    printf("| %s | %.3f | %.3f..%.3f | %.3f |\n", row->label, mid, sorted[0], sorted[rounds - 1],
           to_floor);
    if (json == NULL) {
        return;
    }
    fprintf(json, "    {\"id\": \"%s\", \"table\": \"One ID\", \"label\": \"%s\", ", row->id, row->label);
    if (row->role != NULL) {
        fprintf(json, "\"role\": \"%s\", ", row->role);
    }
    fprintf(json,
            "\"kind\": \"CPU cost per ID\", \"unit\": \"ns\", \"median\": %.6f, \"min\": %.6f, "
            "\"max\": %.6f, \"ratio\": %.6f}%s\n",
            mid, sorted[0], sorted[rounds - 1], to_floor, last ? "" : ",");
}

static void report(FILE *json, int rounds) {
    int i;
    printf("- gcc %s; %d rounds\n\n## One ID\n\nKind of figures: CPU cost per ID.\n\n", __VERSION__,
           rounds);
    printf("| row | ns an ID | min..max | × the same in Rust |\n|---|---:|---:|---:|\n");
    if (json != NULL) {
        fprintf(json, "{\n  \"suite\": \"C\",\n  \"facts\": [\"gcc %s; %d rounds\"],\n  \"rows\": [\n",
                __VERSION__, rounds);
    }
    for (i = 0; i < ROWS; i++) {
        const double to_floor = ratio(&rows[i], &rows[rows[i].floor], rounds);
        print_row(json, &rows[i], to_floor, rounds, i + 1 == ROWS);
    }
    printf("\n## Targets\n\n| target | at most | here | |\n|---|---:|---:|---|\n");
    if (json != NULL) {
        fprintf(json, "  ],\n  \"targets\": [\n");
    }
    for (i = 0; i < TARGETS; i++) {
        const double measured = ratio(&rows[targets[i].row], &rows[targets[i].to], rounds);
        const int met = measured <= atof(targets[i].limit);
        printf("| %s: %s | %s | %.3f | %s |\n", targets[i].id, targets[i].what, targets[i].limit,
               measured, met ? "met" : "**missed**");
        if (json != NULL) {
            fprintf(json,
                    "    {\"id\": \"%s\", \"what\": \"%s\", \"bound\": \"at most\", \"limit\": %s, "
                    "\"measured\": %.6f, \"met\": %s}%s\n",
                    targets[i].id, targets[i].what, targets[i].limit, measured, met ? "true" : "false",
                    i + 1 < TARGETS ? "," : "");
        }
    }
    if (json != NULL) {
        fprintf(json, "  ]\n}\n");
    }
}

int main(int count, char **arguments) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *made = NULL;
    char layout[FLAKEID_DESCRIPTOR_SIZE];
    FILE *json = NULL;
    int i, rounds = MOST_ROUNDS;
    for (i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--quick") == 0) {
            rounds = 5;
        } else if (strcmp(arguments[i], "--json") == 0 && i + 1 < count) {
            json = fopen(arguments[++i], "w");
            if (json == NULL) {
                perror(arguments[i]);
                return 1;
            }
        } else {
            fprintf(stderr, "usage: bench [--quick] [--json FILE], not %s\n", arguments[i]);
            return 2;
        }
    }
    /* 2^26 IDs per millisecond are more than any loop can use, so nothing waits. The epoch is an hour ago, because 36
     * bits of milliseconds last only two years. */
    snprintf(layout, sizeof layout, "t36.n1.s26@%lld/1ms", ((long long)time(NULL) - 3600) * 1000);
    rust = rust_generator(layout, 1);
    config.has = FLAKEID_HAS_NODE;
    config.layout = layout;
    check(flakeid_generator_new(&config, &made));
    generator = made;
    measure(rounds);
    report(json, rounds);
    flakeid_generator_free(made);
    if (json != NULL && fclose(json) != 0) {
        perror("the file of figures");
        return 1;
    }
    return 0;
}
