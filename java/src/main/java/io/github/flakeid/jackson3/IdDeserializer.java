package io.github.flakeid.jackson3;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.TextForm;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;

/**
 * Reads an ID from a JSON string. Rejects a number, because the sender may have rounded it.
 * Example: {@code @JsonDeserialize(using = IdDeserializer.class) long id}.
 */
public final class IdDeserializer extends ValueDeserializer<Long> {
    @Override
    public Long deserialize(JsonParser json, DeserializationContext context) {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            return (Long) context.handleUnexpectedToken(
                    context.constructType(Long.class), json.currentToken(), json, "an ID is a JSON string: numbers may have been rounded");
        }
        String text = json.getString();
        try {
            return TextForm.DECIMAL.decode(text);
        } catch (FlakeidException refused) {
            return (Long) context.handleWeirdStringValue(Long.class, text, "%s", refused.getMessage());
        }
    }
}
