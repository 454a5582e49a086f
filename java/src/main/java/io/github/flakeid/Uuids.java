package io.github.flakeid;

import java.util.Objects;
import java.util.UUID;

/**
 * IDs as UUIDs of version 8 (RFC 9562, section 5.8), for columns and interfaces that require a UUID.
 *
 * <p>The strings and the bytes of these UUIDs sort in the same order as the unsigned IDs. {@link UUID#compareTo} compares
 * signed numbers, and therefore has the order of {@link Long#compare}: a UUID that contains an ID from 2<sup>63</sup> on
 * precedes all UUIDs that contain smaller IDs.
 */
public final class Uuids {
    private Uuids() {}

    /** Converts an ID to a UUID. */
    public static UUID toUuid(long id) {
        return UUID.fromString(TextForm.UUID.encode(id));
    }

    /**
     * Converts a UUID that {@link #toUuid} returned to the ID.
     *
     * @throws FlakeidException {@code FLAKEID_INVALID_ID} if the UUID contains no ID
     */
    public static long fromUuid(UUID uuid) {
        return TextForm.UUID.decode(Objects.requireNonNull(uuid, "uuid").toString());
    }
}
