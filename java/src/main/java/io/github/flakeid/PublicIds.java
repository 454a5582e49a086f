package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Instant;
import java.util.Objects;

/**
 * Converts the IDs of one domain to and from their public form, which hides from outsiders when and where an ID was
 * generated.
 */
public final class PublicIds {
    private final long handle;

    /**
     * Creates a converter for IDs in Twitter's layout, with no prefix. The converter opens the public forms of all IDs
     * that were generated since the layout's epoch.
     */
    public PublicIds(String keyring, String domain) {
        this(keyring, domain, Layout.TWITTER, null, null);
    }

    /**
     * Creates a converter for the IDs of one domain.
     *
     * @param keyring the content of the file that {@code flakeid keygen} writes
     * @param domain the kind of object that the IDs identify, such as {@code user}; the domain must not change while
     *     public IDs are in use
     * @param prefix up to 16 lowercase letters and digits, beginning with a letter; null for no prefix
     * @param since the instant of the earliest IDs that can be opened; null for the layout's epoch
     */
    public PublicIds(String keyring, String domain, Layout layout, String prefix, Instant since) {
        byte[] secret = Native.utf8(Objects.requireNonNull(keyring, "keyring"));
        byte[] what = Native.utf8(Objects.requireNonNull(domain, "domain"));
        long first = since == null ? 0 : Native.unixMs("since", since);
        handle = Native.publicIdsNew(secret, what, layout.utf8(), Native.utf8(prefix), since != null, first);
        Native.freed(this, handle, Native::publicIdsFree);
    }

    /** Returns the public form of an ID: the prefix, the current key's letter, and 11 base58 digits. */
    public String seal(long id) {
        try {
            return Native.seal(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Returns the public form of an ID as a 64-bit number, without the prefix and the key letter. */
    public long sealBits(long id) {
        try {
            return Native.sealBits(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Opens a public ID, and returns the original ID.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID} if the public ID cannot be opened; the exception does not
     *     reveal the reason
     */
    public long open(String text) {
        return open(text, null);
    }

    /**
     * Opens a public ID, and returns the original ID. The given instant replaces the current time, unless the instant
     * is null.
     */
    public long open(String text, Instant time) {
        long unixMs = time == null ? 0 : Native.unixMs("time", time);
        byte[] given = Native.utf8(Objects.requireNonNull(text, "text"));
        try {
            return Native.openPublic(handle, given, time != null, unixMs);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
