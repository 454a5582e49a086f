package io.github.flakeid.jackson3;

import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;

/**
 * Writes an ID as a JSON string, because JavaScript rounds integers above 2^53. Requires Jackson, which is an optional
 * dependency of this library. Example: {@code @JsonSerialize(using = IdSerializer.class) long id}.
 */
public final class IdSerializer extends ValueSerializer<Long> {
    @Override
    public void serialize(Long id, JsonGenerator json, SerializationContext context) {
        json.writeString(Long.toUnsignedString(id));
    }
}
