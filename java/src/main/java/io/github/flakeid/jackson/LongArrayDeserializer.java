package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import java.io.IOException;
import java.util.Arrays;

/** Reads the numbers of an array like {@link LongDeserializer}. */
final class LongArrayDeserializer extends StdDeserializer<long[]> {
    private static final long serialVersionUID = 1;

    LongArrayDeserializer() {
        super(long[].class);
    }

    @Override
    public long[] deserialize(JsonParser json, DeserializationContext context) throws IOException {
        Long[] numbers = context.readValue(json, Long[].class);
        return Arrays.stream(numbers).mapToLong(number -> number == null ? 0 : number).toArray();
    }
}
