package io.github.flakeid;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Passes lease events to the program's function on a separate thread. The function may therefore make any call,
 * including {@link Generator#close}, and does not block the library's thread, which has to renew the lease.
 */
final class LeaseEvents {
    /**
     * The longest time for which {@link #close} waits for the program's function. Without this limit, {@link #close}
     * would never return if the function waited for the closing thread.
     */
    private static final long LONGEST_WAIT_MS = 1000;

    private final Consumer<LeaseEvent> observer;
    private final Deque<LeaseEvent> events = new ArrayDeque<>();
    private final Thread thread;
    private final long listener;
    /** Whether the library has passed on its last event. */
    private boolean ended;

    LeaseEvents(Consumer<LeaseEvent> observer) {
        this.observer = observer;
        thread = new Thread(this::run, "flakeid-events");
        thread.setDaemon(true);
        listener = Native.listenerNew(this);
        thread.start();
    }

    /** The native listener, which the library passes back with each event. */
    long listener() {
        return listener;
    }

    /** Receives an event. The C code in lease.c calls this method on a library thread. */
    void put(int kind, long node, long start, long fence, int status, byte[] message) {
        LeaseEvent.Kind[] kinds = LeaseEvent.Kind.values();
        if (kind < 1 || kind > kinds.length) {
            return; // The library is newer than these classes and has more kinds of events.
        }
        FlakeidException error = status == 0 ? null : FlakeidException.of(status, message, null, -1, -1, -1);
        add(new LeaseEvent(kinds[kind - 1], node, start, fence, error));
    }

    private synchronized void add(LeaseEvent event) {
        events.add(event);
        notifyAll();
    }

    private void run() {
        for (LeaseEvent event = next(); event != null; event = next()) {
            try {
                observer.accept(event);
            } catch (Throwable thrown) {
                // The exception is reported as an uncaught exception, as if it had ended this thread.
                thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
            }
        }
    }

    /** Waits for the next event and returns it, or returns null after the last event. */
    private synchronized LeaseEvent next() {
        while (events.isEmpty() && !ended) {
            try {
                wait();
            } catch (InterruptedException interrupted) {
                // The program's function interrupted its own thread. The thread ends only when there are no more
                // events.
                continue;
            }
        }
        return events.poll();
    }

    /**
     * Waits at most {@link #LONGEST_WAIT_MS} for the function to process the remaining events. Call this method only
     * after the library has passed on its last event. No call to the function begins after this method has returned.
     */
    void close() {
        end();
        if (Thread.currentThread() != thread) {
            try {
                thread.join(LONGEST_WAIT_MS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        synchronized (this) {
            events.clear();
        }
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /**
     * Ends the event thread after the library has freed the generator. The thread passes on the remaining events before
     * it ends.
     */
    void free() {
        end();
        Native.listenerFree(listener);
    }
}
