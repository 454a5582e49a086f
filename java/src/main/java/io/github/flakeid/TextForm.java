package io.github.flakeid;

/** The string forms of an ID. Base32, base62 and hex have a fixed length and sort like the IDs. */
public enum TextForm {
    /** Up to 20 digits. */
    DECIMAL,
    /** 13 digits in Crockford's alphabet. */
    BASE32,
    /** Digits and lowercase letters, without leading zeros. */
    BASE36,
    /** Base58 in Bitcoin's alphabet, without leading zeros. */
    BASE58,
    /** 11 characters of {@code 0-9A-Za-z}. */
    BASE62,
    /** 16 hexadecimal digits. */
    HEX,
    /** Base58 in Flickr's alphabet, without leading zeros: the form of {@code Base58} in Go's bwmarrin/snowflake. */
    BASE58_FLICKR,
    /** z-base-32, without leading zeros: the form of {@code Base32} in Go's bwmarrin/snowflake. */
    ZBASE32;

    /** Encodes an ID as a string. */
    public String encode(long id) {
        return Native.encode(ordinal(), id);
    }

    /**
     * Decodes an ID from a string.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID}
     */
    public long decode(String text) {
        return Native.parse(ordinal(), Native.utf8(java.util.Objects.requireNonNull(text, "text")));
    }
}
