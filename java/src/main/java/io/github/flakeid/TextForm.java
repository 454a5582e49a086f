package io.github.flakeid;

/**
 * The string forms of an ID. Strings in base32, base62 and hex, and UUIDs, have a fixed length and sort in the same
 * order as the IDs.
 */
public enum TextForm {
    /** Up to 20 decimal digits. */
    DECIMAL,
    /** Base32 in Crockford's alphabet: 13 digits. */
    BASE32,
    /** Base36: digits and lowercase letters, without leading zeros. */
    BASE36,
    /** Base58 in Bitcoin's alphabet, without leading zeros. */
    BASE58,
    /** Base62: 11 characters from {@code 0-9A-Za-z}. */
    BASE62,
    /** 16 hexadecimal digits. */
    HEX,
    /**
     * Base58 in Flickr's alphabet, without leading zeros. The method {@code Base58} of the Go package
     * bwmarrin/snowflake returns the same form.
     */
    BASE58_FLICKR,
    /**
     * Base32 in the alphabet of z-base-32, without leading zeros. The method {@code Base32} of the Go package
     * bwmarrin/snowflake returns the same form.
     */
    ZBASE32,
    /** A UUID of version 8: 36 characters. {@link Uuids} converts IDs to and from {@link java.util.UUID}. */
    UUID;

    /** Encodes an ID as a string. */
    public String encode(long id) {
        return Native.encode(ordinal(), id);
    }

    /**
     * Decodes an ID from a string.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID} if the string is not an ID in this form
     */
    public long decode(String text) {
        return Native.parse(ordinal(), Native.utf8(java.util.Objects.requireNonNull(text, "text")));
    }
}
