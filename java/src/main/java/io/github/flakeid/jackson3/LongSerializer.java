package io.github.flakeid.jackson3;

import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.ser.jdk.NumberSerializers;
import tools.jackson.databind.ser.std.StdScalarSerializer;

/** Writes a number as a string if JavaScript would round it. */
final class LongSerializer extends StdScalarSerializer<Long> {
    private static final long serialVersionUID = 1;

    LongSerializer(Class<Long> type) {
        super(type);
    }

    @Override
    public ValueSerializer<?> createContextual(SerializationContext context, BeanProperty property) {
        boolean isNumber = property != null && findFormatOverrides(context, property, handledType()).getShape().isNumeric();
        return isNumber ? new NumberSerializers.LongSerializer(handledType()) : this;
    }

    @Override
    public void serialize(Long number, JsonGenerator json, SerializationContext context) {
        write(number, json);
    }

    static void write(long number, JsonGenerator json) {
        if (FlakeIdModule.isExact(number)) {
            json.writeNumber(number);
        } else {
            json.writeString(Long.toString(number));
        }
    }
}
