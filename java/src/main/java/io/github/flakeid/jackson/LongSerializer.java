package io.github.flakeid.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.ser.ContextualSerializer;
import com.fasterxml.jackson.databind.ser.std.NumberSerializers;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.IOException;

/** Writes a number as a string if JavaScript would round it. */
final class LongSerializer extends StdScalarSerializer<Long> implements ContextualSerializer {
    private static final long serialVersionUID = 1;

    LongSerializer(Class<Long> type) {
        super(type);
    }

    @Override
    public JsonSerializer<?> createContextual(SerializerProvider provider, BeanProperty property) {
        boolean isNumber = property != null && findFormatOverrides(provider, property, handledType()).getShape().isNumeric();
        return isNumber ? new NumberSerializers.LongSerializer(handledType()) : this;
    }

    @Override
    public void serialize(Long number, JsonGenerator json, SerializerProvider provider) throws IOException {
        write(number, json);
    }

    static void write(long number, JsonGenerator json) throws IOException {
        if (FlakeIdModule.isExact(number)) {
            json.writeNumber(number);
        } else {
            json.writeString(Long.toString(number));
        }
    }
}
