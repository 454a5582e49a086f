/* Manual clocks for tests. */
#include "native.h"

NATIVE(jlong, clockNew)(ENV, jlong unix_ms) {
    flakeid_manual_clock *made = NULL;
    (void)class;
    check(env, flakeid_manual_clock_new(unix_ms, &made));
    return (jlong)(intptr_t)made;
}

NATIVE(void, clockSet)(ENV, jlong clock, jlong unix_ms) {
    (void)class;
    check(env, flakeid_manual_clock_set(HANDLE(flakeid_manual_clock, clock), unix_ms));
}

NATIVE(jlong, clockGet)(ENV, jlong clock) {
    int64_t unix_ms = 0;
    (void)class;
    check(env, flakeid_manual_clock_get(HANDLE(flakeid_manual_clock, clock), &unix_ms));
    return unix_ms;
}

NATIVE(void, clockFree)(ENV, jlong clock) {
    (void)env, (void)class;
    flakeid_manual_clock_free(HANDLE(flakeid_manual_clock, clock));
}
