package tests;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import io.github.flakeid.jackson.IdDeserializer;
import io.github.flakeid.jackson.IdSerializer;

/** Tests IDs in JSON with Jackson: only strings are accepted. */
final class Json {
    private Json() {}

    record Order(
            @JsonSerialize(using = IdSerializer.class) @JsonDeserialize(using = IdDeserializer.class) long id,
            int amount) {}

    static void run() throws JsonProcessingException {
        ObjectMapper mapper = new ObjectMapper();
        for (long id : new long[] {0, 910499571847892992L, -1}) {
            String json = mapper.writeValueAsString(new Order(id, 7));
            if (!json.equals("{\"id\":\"" + Long.toUnsignedString(id) + "\",\"amount\":7}")) {
                throw new AssertionError(json);
            }
            if (mapper.readValue(json, Order.class).id() != id) {
                throw new AssertionError(json);
            }
        }
        for (String id : new String[] {"910499571847892992", "1.5", "\"x\"", "\"18446744073709551616\"", "true"}) {
            try {
                mapper.readValue("{\"id\":" + id + ",\"amount\":7}", Order.class);
                throw new AssertionError("read " + id);
            } catch (MismatchedInputException refused) {
                if (refused.getMessage().length() < 10) {
                    throw refused;
                }
            }
        }
    }
}
