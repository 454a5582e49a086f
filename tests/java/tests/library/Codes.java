package io.github.flakeid;

import java.util.Optional;

/** Tests the exception for each status. It is in the library's package, because the constructor is not public. */
public final class Codes {
    private Codes() {}

    /** Returns the exception for this status. */
    public static FlakeidException thrown(int status) {
        FlakeidException made = FlakeidException.of(status, new byte[] {'x'}, new byte[] {'y'}, 1500, -1, -1);
        if (made.status() != status || !made.getMessage().equals("x") || !made.field().equals(Optional.of("y"))) {
            throw new AssertionError(made);
        }
        if (made.retryAfter().orElseThrow().toMillis() != 1500 || made.rollback().isPresent()) {
            throw new AssertionError(made.retryAfter() + ", " + made.rollback());
        }
        return made;
    }
}
