package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import java.io.IOException;

/**
 * Writes an ID as a JSON string, because JavaScript rounds integers above 2^53. Requires Jackson, which is an optional
 * dependency of this library. Example: {@code @JsonSerialize(using = IdSerializer.class) long id}.
 */
public final class IdSerializer extends JsonSerializer<Long> {
    @Override
    public void serialize(Long id, JsonGenerator json, SerializerProvider provider) throws IOException {
        json.writeString(Long.toUnsignedString(id));
    }
}
