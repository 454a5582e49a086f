package tests;

import io.github.flakeid.Codes;
import io.github.flakeid.Layout;
import io.github.flakeid.Parts;
import io.github.flakeid.PublicIds;
import io.github.flakeid.TextForm;
import io.github.flakeid.Uuids;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.IntStream;

/** Runs the shared vectors of errors, text forms, layouts and public IDs. */
final class Vectors {
    private Vectors() {}

    static void run(Path folder) throws IOException {
        errors(Row.load(folder, "errors"));
        text(Row.load(folder, "text"));
        uuids(Row.load(folder, "uuid"));
        Row layouts = Row.load(folder, "layouts");
        presets(layouts);
        ids(layouts);
        rejected(layouts);
        publicIds(Row.load(folder, "keyed"));
    }

    private static void errors(Row file) {
        List<Row> rows = new ArrayList<>(file.rows("errors"));
        rows.addAll(file.rows("c_only"));
        for (Row row : rows) {
            row.same(Codes.thrown((int) row.number("c")).code(), row.text("code"));
        }
        long known =
                IntStream.rangeClosed(-1000, 1000)
                        .filter(status -> !Codes.thrown(status).code().equals("FLAKEID_UNKNOWN_STATUS"))
                        .count();
        file.same(known, 1 + rows.size());
    }

    private static void text(Row file) {
        List<Row> groups = file.rows("forms");
        // The file uuid.json contains the last form.
        file.same(groups.size(), TextForm.UUID.ordinal());
        file.same(TextForm.values().length, groups.size() + 1);
        for (int index = 0; index < groups.size(); index++) {
            Row group = groups.get(index);
            TextForm form = TextForm.values()[index];
            group.same(form.name().toLowerCase(), group.text("form"));
            for (Row row : group.rows("valid")) {
                row.same(form.encode(row.number("id")), row.text("text"));
                row.same(form.decode(row.text("text")), row.number("id"));
            }
            for (Row row : group.list("accepted")) {
                row.same(form.decode(row.text("text")), row.number("id"));
            }
            for (Row row : group.rows("rejected")) {
                row.refused(() -> form.decode(row.text("text")));
            }
        }
    }

    private static void uuids(Row file) {
        List<Row> rows = file.rows("valid");
        for (int index = 0; index < rows.size(); index++) {
            Row row = rows.get(index);
            long id = row.number("id");
            UUID uuid = Uuids.toUuid(id);
            row.same(uuid.toString(), row.text("text"));
            row.same(HexFormat.of().formatHex(bytes(uuid)), row.text("bytes"));
            row.same(Uuids.fromUuid(uuid), id);
            row.same(TextForm.UUID.encode(id), row.text("text"));
            row.same(TextForm.UUID.decode(row.text("text")), id);
            row.same(uuid.version(), 8);
            row.same(uuid.variant(), 2);
            if (index == 0) {
                continue;
            }
            // The rows are in the unsigned order of the IDs. UUID.compareTo has the signed order.
            Row before = rows.get(index - 1);
            UUID smaller = Uuids.toUuid(before.number("id"));
            row.check(smaller.toString().compareTo(uuid.toString()) < 0, "order of strings");
            row.check(Arrays.compareUnsigned(bytes(smaller), bytes(uuid)) < 0, "order of bytes");
            boolean isSigned = Long.compare(before.number("id"), id) < 0;
            row.check(smaller.compareTo(uuid) < 0 == isSigned, "order of compareTo");
        }
        for (Row row : file.rows("accepted")) {
            row.same(TextForm.UUID.decode(row.text("text")), row.number("id"));
        }
        for (Row row : file.rows("rejected")) {
            row.refused(() -> TextForm.UUID.decode(row.text("text")));
        }
        for (Row row : file.rows("rejected_bytes")) {
            byte[] bytes = HexFormat.of().parseHex(row.text("bytes"));
            // A UUID always has 16 bytes.
            if (bytes.length == 16) {
                ByteBuffer buffer = ByteBuffer.wrap(bytes);
                row.refused(() -> Uuids.fromUuid(new UUID(buffer.getLong(0), buffer.getLong(8))));
            }
        }
    }

    private static byte[] bytes(UUID uuid) {
        ByteBuffer buffer = ByteBuffer.allocate(16);
        return buffer.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits()).array();
    }

    private static void presets(Row file) {
        List<Row> presets = file.rows("presets");
        file.check(presets.stream().map(row -> row.text("name")).toList().equals(Layout.presets()), "presets");
        for (Row row : presets) {
            Layout layout = Layout.of(row.text("name"));
            row.same(layout.toString(), row.text("descriptor"));
            row.check(layout.equals(Layout.of(row.text("descriptor"))), "equal");
            row.same(layout.width(), row.number("width"));
            row.same(layout.maxTick(), row.number("max_tick"));
            row.same(layout.maxNode(), row.number("max_node"));
            row.same(layout.maxSequence(), row.number("max_sequence"));
            row.same(layout.idsPerTick(), row.number("ids_per_tick"));
            row.same(layout.horizon().toEpochMilli(), row.instant("horizon_unix_ms"));
            row.same(layout.positiveUntil().toEpochMilli(), row.instant("fits_i64_until_unix_ms"));
            row.check(layout.isSplit() == row.isTrue("split"), "split");
            row.check(layout.canGenerate() == row.isTrue("generates"), "generates");
            row.same(layout.timestamp(layout.horizon()), row.text("horizon"));
        }
        Row descriptors = file.object("descriptors");
        for (Row row : descriptors.rows("valid")) {
            row.same(Layout.of(row.text("text")).toString(), row.text("canonical"));
        }
        for (Row row : descriptors.rows("invalid")) {
            row.refused(() -> Layout.of(row.text("text")));
        }
    }

    private static void ids(Row file) {
        for (Row row : file.rows("ids")) {
            Layout layout = Layout.of(row.text("layout"));
            long id = row.number("id");
            Parts parts = layout.parts(id);
            row.same(parts.tick(), row.number("tick"));
            row.same(parts.unixMs(), row.instant("unix_ms"));
            row.same(parts.node(), row.number("node"));
            row.same(parts.clockSequence(), row.number("clock_sequence"));
            row.same(parts.sequence(), row.number("sequence"));
            row.check(parts.datacenter().isPresent() == row.has("datacenter"), "datacenter");
            if (row.has("datacenter")) {
                row.same(parts.datacenter().getAsLong(), row.number("datacenter"));
                row.same(parts.worker().getAsLong(), row.number("worker"));
                row.same(layout.joinNode(row.number("datacenter"), row.number("worker")), parts.node());
            }
            row.same(layout.pack(parts), id);
            row.same(layout.timeAt(parts.tick()).toEpochMilli(), parts.unixMs());
            if (row.has("timestamp")) {
                row.same(layout.timestamp(layout.time(id)), row.text("timestamp"));
            }
        }
        for (Row row : file.rows("bounds")) {
            Layout layout = Layout.of(row.text("layout"));
            Instant time = Instant.ofEpochMilli(row.instant("unix_ms"));
            row.same(layout.lowerBound(time), row.number("lower"));
            row.same(layout.upperBound(time), row.number("upper"));
        }
    }

    private static void rejected(Row file) {
        for (Row row : file.rows("rejected_ids")) {
            row.refused(() -> Layout.of(row.text("layout")).parts(row.number("id")));
        }
        for (Row row : file.rows("rejected_splits")) {
            Layout layout = Layout.of(row.text("layout"));
            row.refused(() -> layout.joinNode(row.number("datacenter"), row.number("worker")));
        }
        for (Row row : file.rows("rejected_parts")) {
            Layout layout = Layout.of(row.text("layout"));
            long tick = row.number("tick");
            OptionalLong none = OptionalLong.empty();
            Parts parts =
                    new Parts(
                            tick,
                            layout.timeAt(tick).toEpochMilli(),
                            row.number("node"),
                            none,
                            none,
                            row.number("clock_sequence"),
                            row.number("sequence"));
            row.refused(() -> layout.pack(parts));
        }
    }

    private static String prefix(Row row) {
        return row.has("prefix") ? row.text("prefix") : null;
    }

    private static Instant instant(Row row, String key) {
        return row.has(key) ? Instant.ofEpochMilli(row.instant(key)) : null;
    }

    private static PublicIds publicIds(Row row, Instant since) {
        Layout layout = Layout.of(row.text("layout"));
        return new PublicIds(row.text("keyring"), row.text("domain"), layout, prefix(row), since);
    }

    private static void publicIds(Row file) {
        for (Row row : file.rows("public_ids")) {
            PublicIds ids = publicIds(row, null);
            row.same(ids.seal(row.number("id")), row.text("text"));
            row.same(ids.sealBits(row.number("id")), row.number("bits"));
        }
        Row domain = file.object("one_domain");
        for (Row row : file.rows("opened")) {
            PublicIds ids = publicIds(domain, instant(row, "since_ms"));
            row.same(ids.open(row.text("text"), instant(row, "now_ms")), row.number("id"));
        }
        for (Row row : file.rows("rejected")) {
            PublicIds ids = publicIds(domain, instant(row, "since_ms"));
            row.refused(() -> ids.open(row.text("text"), instant(row, "now_ms")));
        }
        for (Row row : file.rows("invalid")) {
            row.refused(() -> new PublicIds(row.text("keyring"), row.text("domain"), Layout.TWITTER, prefix(row), null));
        }
    }
}
