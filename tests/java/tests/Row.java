package tests;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.flakeid.FlakeidException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** An object of the shared vectors, with checks whose failures show it. */
record Row(JsonObject json) {
    static Row load(Path folder, String name) throws IOException {
        String text = Files.readString(folder.resolve(name + ".json"));
        return new Row(JsonParser.parseString(text).getAsJsonObject());
    }

    boolean has(String key) {
        return json.has(key) && !json.get(key).isJsonNull();
    }

    Row object(String key) {
        return has(key) ? new Row(json.getAsJsonObject(key)) : null;
    }

    List<Row> list(String key) {
        List<Row> rows = new ArrayList<>();
        for (JsonElement element : json.getAsJsonArray(key)) {
            rows.add(new Row(element.getAsJsonObject()));
        }
        return rows;
    }

    /** Returns a list that must not be empty, because a loop over nothing proves nothing. */
    List<Row> rows(String key) {
        List<Row> rows = list(key);
        check(!rows.isEmpty(), key);
        return rows;
    }

    String text(String key) {
        return json.get(key).getAsString();
    }

    boolean isTrue(String key) {
        return json.get(key).getAsBoolean();
    }

    long number(String key) {
        return Long.parseUnsignedLong(text(key));
    }

    long instant(String key) {
        return Long.parseLong(text(key));
    }

    void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what + " in " + json);
        }
    }

    void same(long actual, long expected) {
        check(actual == expected, Long.toUnsignedString(actual));
    }

    void same(String actual, String expected) {
        check(actual.equals(expected), actual);
    }

    /** Returns the exception of a call that must fail. */
    FlakeidException failure(Runnable call) {
        try {
            call.run();
        } catch (FlakeidException failure) {
            return failure;
        }
        throw new AssertionError("no error in " + json);
    }

    /** Checks that a call fails with the row's code and field. */
    void refused(Runnable call) {
        FlakeidException failure = failure(call);
        same(failure.code(), has("code") ? text("code") : "FLAKEID_INVALID_LAYOUT");
        Optional<String> field = has("field") ? Optional.of(javaName(text("field"))) : Optional.empty();
        check(failure.field().equals(field), "field");
    }

    /** Returns the name in Java of a field that the vectors have in snake case. */
    private static String javaName(String field) {
        return Pattern.compile("_(.)").matcher(field).replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    }
}
