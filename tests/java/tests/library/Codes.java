package io.github.flakeid;

import java.util.Optional;

/** What a status of the library becomes in Java. In the library's package, because programs make no exceptions. */
public final class Codes {
    private Codes() {}

    /** What Java throws for this status. */
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
