package io.github.flakeid;

/**
 * A lease event, which is passed to the function that {@link LeaseBuilder#onEvent} sets.
 *
 * @param kind the kind of the event
 * @param node the node that was acquired, renewed, lost or released; otherwise 0
 * @param start the first tick that may be used, if a node was acquired; otherwise 0
 * @param fence the first tick that must not be used, if a node was acquired or renewed; otherwise 0
 * @param error the error, or null
 */
public record LeaseEvent(Kind kind, long node, long start, long fence, FlakeidException error) {
    /** The kinds of events. Later releases may add kinds. */
    public enum Kind {
        /** A node was granted. */
        ACQUIRED,
        /** The lease was renewed, which raised the fence. */
        RENEWED,
        /**
         * The node is lost, usually to another process, and can be used only until its fence. The generator then
         * requests a node again, unless its options specify the node and another process has taken over that node.
         */
        FENCED_OFF,
        /** The store refused a request. */
        REFUSED,
        /** The store does not respond. The generator continues to issue IDs until the fence. */
        STORE_LOST,
        /** The store responds again. */
        STORE_FOUND,
        /** The difference between this host's clock and the store's clock is too large. */
        CLOCK_SKEW,
        /** The node was released. */
        RELEASED
    }
}
