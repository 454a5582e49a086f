package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.type.WritableTypeId;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import java.io.IOException;

/** Writes the numbers of an array like {@link LongSerializer}. */
final class LongArraySerializer extends JsonSerializer<long[]> {
    @Override
    public void serialize(long[] numbers, JsonGenerator json, SerializerProvider provider) throws IOException {
        json.writeStartArray(numbers, numbers.length);
        writeAll(numbers, json);
        json.writeEndArray();
    }

    @Override
    public void serializeWithType(long[] numbers, JsonGenerator json, SerializerProvider provider, TypeSerializer types)
            throws IOException {
        WritableTypeId type = types.writeTypePrefix(json, types.typeId(numbers, JsonToken.START_ARRAY));
        writeAll(numbers, json);
        types.writeTypeSuffix(json, type);
    }

    @Override
    public boolean isEmpty(SerializerProvider provider, long[] numbers) {
        return numbers.length == 0;
    }

    private static void writeAll(long[] numbers, JsonGenerator json) throws IOException {
        for (long number : numbers) {
            LongSerializer.write(number, json);
        }
    }
}
