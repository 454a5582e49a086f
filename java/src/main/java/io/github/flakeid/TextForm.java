package io.github.flakeid;

/** The ways to write an ID as text. Base32, base62 and hex have a fixed length and sort as the IDs do. */
public enum TextForm {
    /** Up to 20 digits. */
    DECIMAL,
    /** 13 digits of Crockford's alphabet. */
    BASE32,
    /** Digits and small letters, without leading zeros. */
    BASE36,
    /** Bitcoin's alphabet, without leading zeros. */
    BASE58,
    /** 11 of {@code 0-9A-Za-z}. */
    BASE62,
    /** 16 hexadecimal digits. */
    HEX,
    /** Flickr's alphabet, without leading zeros: what {@code Base58} of Go's bwmarrin/snowflake writes. */
    BASE58_FLICKR,
    /** z-base-32, without leading zeros: what {@code Base32} of Go's bwmarrin/snowflake writes. */
    ZBASE32;

    /** The ID as text. */
    public String encode(long id) {
        return Native.encode(ordinal(), id);
    }

    /**
     * The ID that a text says.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID}
     */
    public long decode(String text) {
        return Native.parse(ordinal(), Native.utf8(java.util.Objects.requireNonNull(text, "text")));
    }
}
