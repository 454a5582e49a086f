package io.github.flakeid.jackson3;

import tools.jackson.databind.module.SimpleModule;

/**
 * A module that makes Jackson write IDs as JSON strings without an annotation on each field, for example {@code
 * JsonMapper.builder().addModule(new FlakeIdModule()).build()}. The module applies to every {@code long}, {@code Long}
 * and {@code long[]}, and does not distinguish IDs from other numbers:
 *
 * <ul>
 *   <li>A number from -(2^53 - 1) to 2^53 - 1 stays a JSON number. JavaScript rounds all other integers, so the module
 *       writes them as strings. In the layout {@code twitter}, these are all IDs that were generated more than 25 days
 *       after the layout's epoch.
 *   <li>The module reads strings and numbers, but rejects numbers outside of that range, because the sender may have
 *       rounded them.
 *   <li>The annotation {@code @JsonFormat(shape = JsonFormat.Shape.NUMBER)} exempts a field. For the IDs of 64-bit
 *       layouts, which can be negative {@code long}s, use {@link IdSerializer} and {@link IdDeserializer} instead.
 * </ul>
 */
public final class FlakeIdModule extends SimpleModule {
    private static final long serialVersionUID = 1;

    /** The largest integer that JavaScript distinguishes from its neighbours. */
    private static final long EXACT = (1L << 53) - 1;

    /** Creates the module. */
    public FlakeIdModule() {
        super("flakeid");
        addSerializer(Long.class, new LongSerializer(Long.class));
        addSerializer(Long.TYPE, new LongSerializer(Long.TYPE));
        addSerializer(long[].class, new LongArraySerializer());
        addDeserializer(Long.class, new LongDeserializer(Long.class));
        addDeserializer(Long.TYPE, new LongDeserializer(Long.TYPE));
        addDeserializer(long[].class, new LongArrayDeserializer());
    }

    /** Whether JavaScript represents the number exactly. */
    static boolean isExact(double number) {
        return Math.abs(number) <= EXACT;
    }
}
