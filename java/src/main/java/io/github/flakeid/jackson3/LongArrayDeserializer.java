package io.github.flakeid.jackson3;

import java.util.Arrays;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/** Reads the numbers of an array like {@link LongDeserializer}. */
final class LongArrayDeserializer extends StdDeserializer<long[]> {
    private static final long serialVersionUID = 1;

    LongArrayDeserializer() {
        super(long[].class);
    }

    @Override
    public long[] deserialize(JsonParser json, DeserializationContext context) {
        Long[] numbers = context.readValue(json, Long[].class);
        return Arrays.stream(numbers).mapToLong(number -> number == null ? 0 : number).toArray();
    }
}
