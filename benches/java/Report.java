import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The measurements as Markdown and in the JSON form that {@code benches/report} reads. */
record Report(List<Row> rows, List<Asked> ceilings, List<Asked> rings) {
    static final String COSID = "CosId `MillisecondSnowflakeId`";
    static final String HUTOOL = "hutool `Snowflake` (1,024 in turn)";
    static final String MYBATIS = "MyBatis-Plus `Sequence` (1,024 in turn; its ticker, no clock)";
    static final String YITTER = "yitter `newLong`";
    static final String TSID = "tsid-creator `create`";
    static final String BAIDU = "Baidu `DefaultUidGenerator` (ticks of 1 s)";
    static final String JNI_BOUND = "a call by JNI that reads the counter and swaps a word: the bound";
    static final String FOREIGN_BOUND = "a critical call by that interface that reads the counter and swaps a word: the bound";
    /** Generators that read a clock for every ID; their repeated IDs are counted. */
    private static final List<String> READ_A_CLOCK = List.of(COSID, HUTOOL, YITTER, TSID, BAIDU);
    /** First Java version on which the library uses the foreign-function interface. */
    private static final int FOREIGN = 24;

    private static final int VERSION = Runtime.version().feature();
    /** Each Java version except the oldest has a section of its own. */
    private static final String SUITE = VERSION < FOREIGN ? "Java" : "Java " + VERSION;

    private static final String FACTS = "Java " + System.getProperty("java.version") + " (" + System.getProperty("java.vm.name")
            + "); CosId 2.6.8, hutool 5.8.26, MyBatis-Plus 3.5.5, yitter 1.0.6, tsid-creator 5.2.6, Baidu's uid-generator"
            + " 0.0.4 (com.xfvape)";

    private record Target(String id, String what, String bound, double limit, double measured) {
        boolean met() {
            return bound.equals("at most") ? measured <= limit : measured >= limit;
        }
    }

    void print() {
        Row floor = rows.get(0);
        System.out.println("- " + FACTS);
        for (String table : List.of("One ID", "Many by one call")) {
            System.out.printf("%n## %s%n%nKind of figures: CPU cost per ID.%n%n", table);
            System.out.println("| row | ns an ID | min..max | × F |\n|---|---:|---:|---:|");
            for (Row row : rows) {
                if (row.table.equals(table)) {
                    show("| %s | %.2f | %.2f..%.2f | %.3f |", row.label, row.median(), row.least(), row.most(), row.ratio(floor));
                }
            }
        }
        System.out.println("\n## At the ceiling\n\nWith 12 sequence bits; Baidu's has 22 in a second. Kinds of figures: the layout's ceiling; for yitter and"
                + " tsid-creator, IDs borrowed from the future.\n\n| row | threads | M IDs/s | of the ceiling | CPU s per s | came"
                + " twice |\n|---|---:|---:|---:|---:|---:|");
        for (Asked asked : ceilings) {
            String share = asked.most() > 0 ? String.format(Locale.ROOT, "%.1f %%", asked.idsPerSecond() / asked.most() * 100) : "–";
            show("| %s | %d | %.3f | %s | %.2f | %d |", asked.label(), asked.threads(), asked.idsPerSecond() / 1e6, share, asked.cpu(), asked.twice());
        }
        System.out.println("\n## Rings\n\nNo ceiling in the way: ours has 23 sequence bits, Baidu's borrows from later seconds. A taker"
                + " that finds it empty tries again. Kind of figures: IDs that come, filling included.\n\n| row | takers | M IDs/s |"
                + " found empty | came twice |\n|---|---:|---:|---:|---:|");
        for (Asked ring : rings) {
            show("| %s | %d | %.3f | %d | %d |", ring.label(), ring.threads(), ring.idsPerSecond() / 1e6, ring.empty(), ring.twice());
        }
        System.out.println("\n## Targets\n\n| target | | limit | here | |\n|---|---|---:|---:|---|");
        for (Target target : targets()) {
            show("| %s: %s | %s | %.2f | %.2f | %s |", target.id, target.what, target.bound, target.limit, target.measured, target.met() ? "met" : "**missed**");
        }
    }

    private static void show(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }

    private List<Target> targets() {
        Row next = rows.get(1);
        Row rival = rows.stream()
                .filter(row -> READ_A_CLOCK.contains(row.label))
                .filter(row -> ceilings.stream().noneMatch(asked -> asked.label().equals(row.label) && asked.twice() > 0))
                .min((one, other) -> Double.compare(one.median(), other.median()))
                .orElseThrow();
        List<Target> targets = new ArrayList<>();
        targets.add(new Target("J1", "`nextId()` / the fastest that reads a clock, " + rival.label, "at most", 0.6, next.ratio(rival)));
        targets.add(new Target("J1", "`nextId()` / its bound, the least that a call into C does", "at most", 1.1, next.ratio(bound())));
        targets.add(new Target("J2", "ring / Baidu's, one taker", "at least", 3, rings.get(0).idsPerSecond() / rings.get(1).idsPerSecond()));
        targets.add(new Target("J2", "ring / Baidu's, two takers", "at least", 5, rings.get(2).idsPerSecond() / rings.get(3).idsPerSecond()));
        for (Asked asked : ceilings) {
            if (asked.ours()) {
                targets.add(new Target("J3", "CPU s per s at the ceiling, threads: " + asked.threads(), "at most", 0.4, asked.cpu()));
            }
        }
        return targets;
    }

    /** Returns the floor of the interface that the library uses. */
    private Row bound() {
        String label = VERSION < FOREIGN ? JNI_BOUND : FOREIGN_BOUND;
        return rows.stream().filter(row -> row.label.equals(label)).findFirst().orElseThrow();
    }

    String json() {
        List<String> figures = new ArrayList<>();
        Row floor = rows.get(0);
        for (Row row : rows) {
            String role = row.role == Row.Role.OTHER ? "null" : quoted(row.role.name().toLowerCase(Locale.ROOT));
            figures.add(figure(row.label, row.table, row.label, role, "CPU cost per ID", "ns", row.median(),
                    String.format(Locale.ROOT, "%f, \"max\": %f, \"ratio\": %f", row.least(), row.most(), row.ratio(floor))));
        }
        for (Asked asked : ceilings) {
            String label = asked.label() + ", threads: " + asked.threads();
            String kind = asked.most() > 0 ? "the layout's ceiling" : "IDs borrowed from the future";
            String none = "null, \"max\": null, \"ratio\": null";
            figures.add(figure(label + " IDs", "At the ceiling", label + ", IDs", "null", kind, "M IDs/s", asked.idsPerSecond() / 1e6, none));
            figures.add(figure(label + " processor", "At the ceiling", label + ", processor", "null", "none of the three", "CPU s per s", asked.cpu(), none));
            figures.add(figure(label + " came twice", "At the ceiling", label + ", came twice", "null", "none of the three", "IDs", asked.twice(), none));
        }
        for (Asked ring : rings) {
            String label = ring.label() + ", takers: " + ring.threads();
            figures.add(figure("ring " + label, "Rings", label, "null", "CPU cost per ID", "M IDs/s", ring.idsPerSecond() / 1e6,
                    "null, \"max\": null, \"ratio\": null"));
        }
        List<String> targets = new ArrayList<>();
        for (Target target : targets()) {
            targets.add(String.format(Locale.ROOT, "{\"id\": %s, \"what\": %s, \"bound\": %s, \"limit\": %f, \"measured\": %f, \"met\": %b}",
                    quoted(target.id), quoted(target.what), quoted(target.bound), target.limit, target.measured, target.met()));
        }
        return "{\"suite\": " + quoted(SUITE) + ", \"facts\": [" + quoted(FACTS) + "],\n\"rows\": [" + String.join(",\n", figures) + "],\n\"targets\": ["
                + String.join(",\n", targets) + "]}\n";
    }

    private static String figure(String id, String table, String label, String role, String kind, String unit, double median, String rest) {
        String slug = SUITE.toLowerCase(Locale.ROOT).replace(" ", "") + "." + id.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return String.format(Locale.ROOT, "{\"id\": %s, \"table\": %s, \"label\": %s, \"role\": %s, \"kind\": %s, \"unit\": %s, \"median\": %f, \"min\": %s}",
                quoted(slug), quoted(table), quoted(label), role, quoted(kind), quoted(unit), median, rest);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
