/* A check for all test programs that reports the place and the cause of a failure. */
#ifndef CHECK_H
#define CHECK_H

#include <flakeid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition, context)                                                          \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: %s\n  in %s\n  last error: %s\n", __FILE__, __LINE__,  \
                    #condition, (context), flakeid_last_error());                          \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

/* Checks that a call returns this status. */
#define EXPECT(status, call) CHECK((call) == (status), "a call returned another status")

#endif
