package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.deser.std.NumberDeserializers;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;

/** Reads a number like Jackson's own deserializer, but rejects a number that JavaScript may have rounded. */
final class LongDeserializer extends StdScalarDeserializer<Long> {
    private static final long serialVersionUID = 1;

    private final JsonDeserializer<?> own;

    LongDeserializer(Class<Long> type) {
        super(type);
        own = NumberDeserializers.find(type, type.getName());
    }

    @Override
    public Long deserialize(JsonParser json, DeserializationContext context) throws IOException {
        if (json.currentToken().isNumeric() && !FlakeIdModule.isExact(json.getDoubleValue())) {
            return (Long) context.handleUnexpectedToken(
                    handledType(),
                    json.currentToken(),
                    json,
                    "the number %s may have been rounded: send integers above 2^53 as strings",
                    json.getText());
        }
        return (Long) own.deserialize(json, context);
    }

    @Override
    public Long getNullValue(DeserializationContext context) throws JsonMappingException {
        return (Long) own.getNullValue(context);
    }

    @Override
    public Object getEmptyValue(DeserializationContext context) throws JsonMappingException {
        return own.getEmptyValue(context);
    }

    @Override
    public LogicalType logicalType() {
        return LogicalType.Integer;
    }
}
