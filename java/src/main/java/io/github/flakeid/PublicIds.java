package io.github.flakeid;

import java.lang.ref.Reference;
import java.time.Instant;
import java.util.Objects;

/** The public form of the IDs of one domain: outsiders learn neither when one was made nor where. */
public final class PublicIds {
    private final long handle;

    /** With neither prefix nor first day, of Twitter's layout. */
    public PublicIds(String keyring, String domain) {
        this(keyring, domain, Layout.TWITTER, null, null);
    }

    /**
     * @param keyring the text of the file that {@code flakeid keygen} makes
     * @param domain what the IDs are of, such as {@code user}: fixed for as long as their public form is in use
     * @param prefix up to 16 small letters and digits, a letter first; null is none
     * @param since IDs from before this do not open; null is the layout's epoch
     */
    public PublicIds(String keyring, String domain, Layout layout, String prefix, Instant since) {
        byte[] secret = Native.utf8(Objects.requireNonNull(keyring, "keyring"));
        byte[] what = Native.utf8(Objects.requireNonNull(domain, "domain"));
        long first = since == null ? 0 : since.toEpochMilli();
        handle = Native.publicIdsNew(secret, what, layout.utf8(), Native.utf8(prefix), since != null, first);
        Native.freed(this, handle, Native::publicIdsFree);
    }

    /** The public form: the prefix, the letter of the current key, and 11 digits. */
    public String seal(long id) {
        try {
            return Native.seal(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The public form as 64 bits, without the prefix and the letter of the key. */
    public long sealBits(long id) {
        try {
            return Native.sealBits(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The ID of a public ID.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID}, which does not say why
     */
    public long open(String text) {
        return open(text, null);
    }

    /** As {@link #open(String)}, as if it were then; null is now. */
    public long open(String text, Instant time) {
        long unixMs = time == null ? 0 : time.toEpochMilli();
        byte[] given = Native.utf8(Objects.requireNonNull(text, "text"));
        try {
            return Native.openPublic(handle, given, time != null, unixMs);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
