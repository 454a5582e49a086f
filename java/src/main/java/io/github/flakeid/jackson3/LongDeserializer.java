package io.github.flakeid.jackson3;

import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.deser.jdk.NumberDeserializers;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.type.LogicalType;

/** Reads a number like Jackson's own deserializer, but rejects a number that JavaScript may have rounded. */
final class LongDeserializer extends StdScalarDeserializer<Long> {
    private static final long serialVersionUID = 1;

    private final ValueDeserializer<?> own;

    LongDeserializer(Class<Long> type) {
        super(type);
        own = NumberDeserializers.find(type);
    }

    @Override
    public Long deserialize(JsonParser json, DeserializationContext context) {
        if (json.currentToken().isNumeric() && !FlakeIdModule.isExact(json.getDoubleValue())) {
            return (Long) context.handleUnexpectedToken(
                    context.constructType(handledType()),
                    json.currentToken(),
                    json,
                    "the number %s may have been rounded: send integers above 2^53 as strings",
                    json.getString());
        }
        return (Long) own.deserialize(json, context);
    }

    @Override
    public Long getNullValue(DeserializationContext context) {
        return (Long) own.getNullValue(context);
    }

    @Override
    public Object getEmptyValue(DeserializationContext context) {
        return own.getEmptyValue(context);
    }

    @Override
    public LogicalType logicalType() {
        return LogicalType.Integer;
    }
}
