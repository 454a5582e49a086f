package tests;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.github.flakeid.jackson3.FlakeIdModule;
import io.github.flakeid.jackson3.IdDeserializer;
import io.github.flakeid.jackson3.IdSerializer;
import java.util.List;
import java.util.Map;
import org.springframework.context.ApplicationContext;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/** Tests IDs in JSON with Jackson 3: fields with annotations, and the module for all fields. */
final class Json3 {
    private static final long EXACT = (1L << 53) - 1;
    private static final long ID = 910499571847892992L;

    private Json3() {}

    record Order(
            @JsonSerialize(using = IdSerializer.class) @JsonDeserialize(using = IdDeserializer.class) long id,
            int amount) {}

    /** A class without annotations for IDs. */
    record Row(long id, Long parent, List<Long> items, long[] others, Map<String, Object> columns, int amount) {}

    record Event(long id, @JsonFormat(shape = JsonFormat.Shape.NUMBER) long nanoseconds) {}

    static void run() {
        annotations();
        module();
        numbers();
        types();
    }

    private static void check(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static void annotations() {
        ObjectMapper mapper = new ObjectMapper();
        for (long id : new long[] {0, ID, -1}) {
            String json = mapper.writeValueAsString(new Order(id, 7));
            check(json.equals("{\"id\":\"" + Long.toUnsignedString(id) + "\",\"amount\":7}"), json);
            check(mapper.readValue(json, Order.class).id() == id, json);
        }
        for (String id : new String[] {ID + "", "1.5", "\"x\"", "\"18446744073709551616\"", "true"}) {
            refused(mapper, "{\"id\":" + id + ",\"amount\":7}", Order.class);
        }
    }

    private static ObjectMapper withModule() {
        return JsonMapper.builder().addModule(new FlakeIdModule()).build();
    }

    /** Checks that IDs are strings in fields, lists, arrays and maps, and that other numbers stay numbers. */
    private static void module() {
        ObjectMapper mapper = withModule();
        String json = mapper.writeValueAsString(
                new Row(ID, ID + 1, List.of(ID + 2, 5L), new long[] {ID + 3, 6}, Map.of("ID", ID + 4), 7));
        String wanted = "{'id':'910499571847892992','parent':'910499571847892993','items':['910499571847892994',5],"
                + "'others':['910499571847892995',6],'columns':{'ID':'910499571847892996'},'amount':7}";
        check(json.equals(wanted.replace('\'', '"')), json);
        Row row = mapper.readValue(json, Row.class);
        check(row.id() == ID && row.parent() == ID + 1 && row.items().get(0) == ID + 2 && row.others()[0] == ID + 3, row);
        check(mapper.readValue(json.replace("\"" + (ID + 1) + "\"", "null"), Row.class).parent() == null, json);
        String event = mapper.writeValueAsString(new Event(ID, ID));
        check(event.equals("{\"id\":\"" + ID + "\",\"nanoseconds\":" + ID + "}"), event);
    }

    /** Checks that the module writes and reads only numbers that JavaScript does not round. */
    private static void numbers() {
        ObjectMapper mapper = withModule();
        for (long number : new long[] {0, EXACT, -EXACT, EXACT + 1, -EXACT - 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            boolean isExact = number <= EXACT && number >= -EXACT;
            String json = mapper.writeValueAsString(number);
            check(json.equals(isExact ? "" + number : "\"" + number + "\""), json);
            for (Class<Long> type : List.of(Long.class, Long.TYPE)) {
                check(mapper.readValue(json, type) == number, json);
                check(mapper.readValue("\"" + number + "\"", type) == number, json);
                if (!isExact) {
                    refused(mapper, "" + number, type);
                }
            }
            if (!isExact) {
                refused(mapper, "[" + number + "]", long[].class);
                refused(mapper, "1e300", Long.class);
            }
        }
        for (String bad : new String[] {"\"x\"", "true", "\"9223372036854775808\"", "{}"}) {
            refused(mapper, bad, Long.class);
        }
    }

    /** Checks the module in a mapper that writes the names of classes. */
    private static void types() {
        ObjectMapper mapper = JsonMapper.builder()
                .addModule(new FlakeIdModule())
                .activateDefaultTyping(
                        BasicPolymorphicTypeValidator.builder().allowIfSubType(Object.class).build(), DefaultTyping.NON_FINAL)
                .build();
        Object[] values = {ID, 7L, new long[] {ID, 7}};
        Object[] read = mapper.readValue(mapper.writeValueAsString(values), Object[].class);
        check(read[0].equals(ID) && read[1].equals(7L) && ((long[]) read[2])[0] == ID, List.of(read));
    }

    private static void refused(ObjectMapper mapper, String json, Class<?> type) {
        try {
            throw new AssertionError("read " + json + ": " + mapper.readValue(json, type));
        } catch (MismatchedInputException refused) {
            check(refused.getMessage().length() > 10, refused);
        }
    }

    /** Returns the JSON of an object, as the application of Spring Boot writes it. */
    static String written(ApplicationContext context, Object value) {
        return context.getBean(ObjectMapper.class).writeValueAsString(value);
    }
}
