package io.github.flakeid.jackson3;

import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonToken;
import tools.jackson.core.type.WritableTypeId;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.jsontype.TypeSerializer;

/** Writes the numbers of an array like {@link LongSerializer}. */
final class LongArraySerializer extends ValueSerializer<long[]> {
    @Override
    public void serialize(long[] numbers, JsonGenerator json, SerializationContext context) {
        json.writeStartArray(numbers, numbers.length);
        writeAll(numbers, json);
        json.writeEndArray();
    }

    @Override
    public void serializeWithType(
            long[] numbers, JsonGenerator json, SerializationContext context, TypeSerializer types) {
        WritableTypeId type = types.writeTypePrefix(json, context, types.typeId(numbers, JsonToken.START_ARRAY));
        writeAll(numbers, json);
        types.writeTypeSuffix(json, context, type);
    }

    @Override
    public boolean isEmpty(SerializationContext context, long[] numbers) {
        return numbers.length == 0;
    }

    private static void writeAll(long[] numbers, JsonGenerator json) {
        for (long number : numbers) {
            LongSerializer.write(number, json);
        }
    }
}
