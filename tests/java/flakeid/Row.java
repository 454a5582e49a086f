package flakeid;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An object of the shared vectors, and checks that name it when they fail. */
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

    /** A list that must not be empty: a loop over nothing proves nothing. */
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

    /** Whether the text reaches a function that reads to the first NUL as it is. */
    boolean isCString() {
        return text("text").indexOf('\0') < 0;
    }

    long number(String key) {
        return Long.parseUnsignedLong(text(key));
    }

    long instant(String key) {
        return Long.parseLong(text(key));
    }

    void check(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what + " in " + json + ": " + Library.flakeid_last_error());
        }
    }

    void same(long actual, long expected) {
        check(actual == expected, Long.toUnsignedString(actual));
    }

    void same(String actual, String expected) {
        check(actual.equals(expected), actual);
    }

    void ok(int status) {
        same(status, 0);
    }

    /** A call failed with the row's code and field. */
    void refused(int status) {
        String code = has("code") ? text("code") : "FLAKEID_INVALID_LAYOUT";
        same(Library.flakeid_status_code(status), code);
        String field = Library.flakeid_last_error_field();
        same(field == null ? "" : field, has("field") ? text("field") : "");
    }
}
