package flakeid;

import com.sun.jna.Native;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;

/** The shared vectors of errors, text and layouts. */
final class Vectors {
    private interface Encode {
        int call(long id, byte[] buffer, long size);
    }

    private interface Decode {
        int call(String text, long[] id);
    }

    private record Form(String name, Encode to, Decode from) {}

    private static final List<Form> FORMS =
            List.of(
                    new Form("decimal", Library::flakeid_to_decimal, Library::flakeid_from_decimal),
                    new Form("base32", Library::flakeid_to_base32, Library::flakeid_from_base32),
                    new Form("base36", Library::flakeid_to_base36, Library::flakeid_from_base36),
                    new Form("base58", Library::flakeid_to_base58, Library::flakeid_from_base58),
                    new Form("base62", Library::flakeid_to_base62, Library::flakeid_from_base62),
                    new Form("hex", Library::flakeid_to_hex, Library::flakeid_from_hex));

    private final byte[] buffer = new byte[128];
    private final long[] output = new long[1];

    private Vectors() {}

    static void run(Path folder) throws IOException {
        Vectors vectors = new Vectors();
        vectors.errors(Row.load(folder, "errors"));
        vectors.text(Row.load(folder, "text"));
        Row layouts = Row.load(folder, "layouts");
        vectors.presets(layouts);
        vectors.ids(layouts);
        vectors.rejected(layouts);
    }

    private void errors(Row file) {
        for (String list : List.of("errors", "c_only")) {
            for (Row row : file.rows(list)) {
                int status = (int) row.number("c");
                row.same(Library.flakeid_status_code(status), row.text("code"));
                row.check(!Library.flakeid_status_message(status).isEmpty(), "message");
            }
        }
    }

    private void text(Row file) {
        List<Row> groups = file.rows("forms");
        file.same(groups.size(), FORMS.size());
        for (int index = 0; index < groups.size(); index++) {
            Row group = groups.get(index);
            Form form = FORMS.get(index);
            group.same(form.name, group.text("form"));
            for (Row row : group.rows("valid")) {
                row.ok(form.to.call(row.number("id"), buffer, buffer.length));
                row.same(Native.toString(buffer), row.text("text"));
                decode(form, row);
            }
            for (Row row : group.list("accepted")) {
                decode(form, row);
            }
            for (Row row : group.rows("rejected")) {
                if (row.isCString()) {
                    row.refused(form.from.call(row.text("text"), output));
                }
            }
        }
    }

    private void decode(Form form, Row row) {
        row.ok(form.from.call(row.text("text"), output));
        row.same(output[0], row.number("id"));
    }

    private void presets(Row file) {
        List<Row> presets = file.rows("presets");
        file.same(presets.size(), Library.flakeid_preset_count());
        for (int index = 0; index < presets.size(); index++) {
            Row row = presets.get(index);
            String name = Library.flakeid_preset_name(index);
            row.same(name, row.text("name"));
            row.ok(Library.flakeid_layout_descriptor(name, buffer, buffer.length));
            row.same(Native.toString(buffer), row.text("descriptor"));
            Library.LayoutInfo info = new Library.LayoutInfo();
            row.ok(Library.flakeid_layout_get_info(name, info));
            row.same(info.width, row.number("width"));
            row.same(info.max_tick, row.number("max_tick"));
            row.same(info.max_node, row.number("max_node"));
            row.same(info.max_sequence, row.number("max_sequence"));
            row.same(info.ids_per_tick, row.number("ids_per_tick"));
            row.same(info.horizon, row.instant("horizon_unix_ms"));
            row.same(info.fits_i64_until, row.instant("fits_i64_until_unix_ms"));
            row.check((info.is_split != 0) == row.isTrue("split"), "split");
            row.check((info.can_generate != 0) == row.isTrue("generates"), "generates");
            row.ok(Library.flakeid_timestamp(name, info.horizon, buffer, buffer.length));
            row.same(Native.toString(buffer), row.text("horizon"));
        }
        Row descriptors = file.object("descriptors");
        for (Row row : descriptors.rows("valid")) {
            row.ok(Library.flakeid_layout_descriptor(row.text("text"), buffer, buffer.length));
            row.same(Native.toString(buffer), row.text("canonical"));
        }
        for (Row row : descriptors.rows("invalid")) {
            if (row.isCString()) {
                row.refused(
                        Library.flakeid_layout_descriptor(
                                row.text("text"), buffer, buffer.length));
            }
        }
    }

    private void ids(Row file) {
        for (Row row : file.rows("ids")) {
            String layout = row.text("layout");
            long id = row.number("id");
            Library.Parts parts = new Library.Parts();
            row.ok(Library.flakeid_decode(layout, id, parts));
            row.same(parts.tick, row.number("tick"));
            row.same(parts.unix_ms, row.instant("unix_ms"));
            row.same(parts.node, row.number("node"));
            row.same(parts.clock_sequence, row.number("clock_sequence"));
            row.same(parts.sequence, row.number("sequence"));
            row.check((parts.has != 0) == row.has("datacenter"), "datacenter");
            if (row.has("datacenter")) {
                row.same(parts.datacenter, row.number("datacenter"));
                row.same(parts.worker, row.number("worker"));
                row.ok(Library.flakeid_join_node(layout, parts.datacenter, parts.worker, output));
                row.same(output[0], parts.node);
            }
            row.ok(Library.flakeid_pack(layout, parts, output));
            row.same(output[0], id);
            byte[] bytes = new byte[8];
            row.ok(Library.flakeid_to_bytes(id, bytes, bytes.length));
            row.same(HexFormat.of().formatHex(bytes), row.text("bytes"));
            row.ok(Library.flakeid_from_bytes(bytes, bytes.length, output));
            row.same(output[0], id);
            if (row.has("timestamp")) {
                row.ok(Library.flakeid_timestamp(layout, parts.unix_ms, buffer, buffer.length));
                row.same(Native.toString(buffer), row.text("timestamp"));
            }
        }
        for (Row row : file.rows("bounds")) {
            String layout = row.text("layout");
            row.ok(Library.flakeid_lower_bound(layout, row.instant("unix_ms"), output));
            row.same(output[0], row.number("lower"));
            row.ok(Library.flakeid_upper_bound(layout, row.instant("unix_ms"), output));
            row.same(output[0], row.number("upper"));
        }
    }

    private void rejected(Row file) {
        for (Row row : file.rows("rejected_ids")) {
            row.refused(
                    Library.flakeid_decode(
                            row.text("layout"), row.number("id"), new Library.Parts()));
        }
        for (Row row : file.rows("rejected_splits")) {
            row.refused(
                    Library.flakeid_join_node(
                            row.text("layout"),
                            row.number("datacenter"),
                            row.number("worker"),
                            output));
        }
        for (Row row : file.rows("rejected_parts")) {
            Library.Parts parts = new Library.Parts();
            parts.tick = row.number("tick");
            parts.node = row.number("node");
            parts.clock_sequence = row.number("clock_sequence");
            parts.sequence = row.number("sequence");
            row.ok(Library.flakeid_unix_ms_at(row.text("layout"), parts.tick, output));
            parts.unix_ms = output[0];
            row.refused(Library.flakeid_pack(row.text("layout"), parts, output));
        }
    }
}
