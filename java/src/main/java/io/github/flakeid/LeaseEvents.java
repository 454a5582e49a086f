package io.github.flakeid;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Hands the events of a lease to a program's function, on a thread of its own: so the function may do anything, {@link
 * Generator#close} included, and keeps no thread of the library, which has to renew the lease.
 */
final class LeaseEvents {
    /** How long {@link #close} waits for the function. Longer, and one that waits for who closes would wait for ever. */
    private static final long LONGEST_WAIT_MS = 1000;

    private final Consumer<LeaseEvent> observer;
    private final Deque<LeaseEvent> events = new ArrayDeque<>();
    private final Thread thread;
    private final long listener;
    /** Whether no more events come. */
    private boolean ended;

    LeaseEvents(Consumer<LeaseEvent> observer) {
        this.observer = observer;
        thread = new Thread(this::run, "flakeid-events");
        thread.setDaemon(true);
        listener = Native.listenerNew(this);
        thread.start();
    }

    /** What the library gives back with each event. */
    long listener() {
        return listener;
    }

    /** Called by flakeid_events.c, on a thread of the library. */
    void put(int kind, long node, long start, long fence, int status, byte[] message) {
        LeaseEvent.Kind[] kinds = LeaseEvent.Kind.values();
        if (kind < 1 || kind > kinds.length) {
            return; // a library that is newer than these classes
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
                // Reported as that of any thread, which would have ended by it.
                thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
            }
        }
    }

    /** The next event; null after the last. */
    private synchronized LeaseEvent next() {
        while (events.isEmpty() && !ended) {
            try {
                wait();
            } catch (InterruptedException interrupted) {
                // By the program's function, for itself: the thread ends when there are no more events.
                continue;
            }
        }
        return events.poll();
    }

    /** Once the library calls no more: hands over what has happened until then. No call begins after this has returned. */
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

    /** Once the library has freed what calls this. What has happened until then is still handed over. */
    void free() {
        end();
        Native.listenerFree(listener);
    }
}
