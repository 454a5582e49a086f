package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import io.github.flakeid.FlakeidException;
import io.github.flakeid.TextForm;
import java.io.IOException;

/**
 * Reads an ID from a JSON string. Rejects a number, because the sender may have rounded it.
 * Example: {@code @JsonDeserialize(using = IdDeserializer.class) long id}.
 */
public final class IdDeserializer extends JsonDeserializer<Long> {
    @Override
    public Long deserialize(JsonParser json, DeserializationContext context) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            return (Long) context.handleUnexpectedToken(
                    Long.class, json.currentToken(), json, "an ID is a JSON string: numbers may have been rounded");
        }
        String text = json.getText();
        try {
            return TextForm.DECIMAL.decode(text);
        } catch (FlakeidException refused) {
            return (Long) context.handleWeirdStringValue(Long.class, text, "%s", refused.getMessage());
        }
    }
}
