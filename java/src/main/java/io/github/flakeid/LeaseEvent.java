package io.github.flakeid;

/**
 * What happened to a lease, for {@link LeaseBuilder#onEvent}.
 *
 * @param kind what it was
 * @param node the node that was acquired, renewed, lost or released; otherwise 0
 * @param start the first tick that may be used, of a node that was acquired; otherwise 0
 * @param fence the first tick that may not be used, of a node that was acquired or renewed; otherwise 0
 * @param error what went wrong, or null
 */
public record LeaseEvent(Kind kind, long node, long start, long fence, FlakeidException error) {
    /** The kinds of events. Later releases may add some. */
    public enum Kind {
        /** A node was granted. */
        ACQUIRED,
        /** The fence was moved up. */
        RENEWED,
        /** Another process has the node from the fence on; another one is taken. */
        FENCED_OFF,
        /** The store refused a request. */
        REFUSED,
        /** The store does not answer. IDs go on until the fence. */
        STORE_LOST,
        /** The store answers again. */
        STORE_FOUND,
        /** This host's clock and the store's are too far apart. */
        CLOCK_SKEW,
        /** The node was given back. */
        RELEASED
    }
}
