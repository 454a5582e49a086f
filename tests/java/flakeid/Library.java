package flakeid;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import com.sun.jna.ptr.PointerByReference;

/** The functions of flakeid.h, mapped directly: their names are the header's. */
final class Library {
    static final int HAS_NODE = 1;
    static final int HAS_DATACENTER = 2;
    static final int HAS_WORKER = 4;
    static final int HAS_SEQUENCE_MASK = 16;
    static final int HAS_MAX_AHEAD = 32;
    static final int HAS_MAX_WAIT = 64;
    static final int HAS_WINDOW = 128;
    static final long NO_TICK = -1L;

    @FieldOrder({
        "struct_size", "has", "layout", "node", "datacenter", "worker", "epoch", "sequence_mask",
        "sequence_start", "overflow", "rollback", "reserved", "max_ahead_ms", "max_wait_ms",
        "clock", "window_start", "window_fence", "clock_name", "nodes", "node_count"
    })
    public static final class Config extends Structure {
        public int struct_size;
        public int has;
        public String layout;
        public long node;
        public long datacenter;
        public long worker;
        public long epoch;
        public long sequence_mask;
        public int sequence_start;
        public int overflow;
        public int rollback;
        public int reserved;
        public long max_ahead_ms;
        public long max_wait_ms;
        public Pointer clock;
        public long window_start;
        public long window_fence;
        public String clock_name;
        public Pointer nodes;
        public long node_count;

        public Config() {
            struct_size = size();
        }
    }

    @FieldOrder({
        "struct_size", "has", "layout", "namespace_name", "name", "node", "datacenter", "worker",
        "first_node", "last_node", "epoch", "sequence_mask", "sequence_start", "overflow",
        "rollback", "never_reuse", "window_ms", "ttl_ms", "max_wait_ms", "on_event", "user_data",
        "clock_name", "node_count", "reserved"
    })
    public static final class LeaseConfig extends Structure {
        public int struct_size;
        public int has;
        public String layout;
        public String namespace_name;
        public String name;
        public long node;
        public long datacenter;
        public long worker;
        public long first_node;
        public long last_node;
        public long epoch;
        public long sequence_mask;
        public int sequence_start;
        public int overflow;
        public int rollback;
        public int never_reuse;
        public long window_ms;
        public long ttl_ms;
        public long max_wait_ms;
        public Pointer on_event;
        public Pointer user_data;
        public String clock_name;
        public int node_count;
        public int reserved;

        public LeaseConfig() {
            struct_size = size();
        }
    }

    @FieldOrder({"struct_size", "reserved", "waits", "rollbacks", "largest_ahead"})
    public static final class Stats extends Structure {
        public int struct_size;
        public int reserved;
        public long waits;
        public long rollbacks;
        public long largest_ahead;

        public Stats() {
            struct_size = size();
        }
    }

    @FieldOrder({
        "struct_size", "width", "epoch", "unit_ms", "max_tick", "max_node", "max_datacenter",
        "max_worker", "max_clock_sequence", "max_sequence", "ids_per_tick", "ids_per_second",
        "horizon", "fits_i64_until", "is_split", "can_generate", "fits_f64", "reserved"
    })
    public static final class LayoutInfo extends Structure {
        public int struct_size;
        public int width;
        public long epoch;
        public long unit_ms;
        public long max_tick;
        public long max_node;
        public long max_datacenter;
        public long max_worker;
        public long max_clock_sequence;
        public long max_sequence;
        public long ids_per_tick;
        public double ids_per_second;
        public long horizon;
        public long fits_i64_until;
        public int is_split;
        public int can_generate;
        public int fits_f64;
        public int reserved;

        public LayoutInfo() {
            struct_size = size();
        }
    }

    @FieldOrder({
        "tick", "unix_ms", "node", "datacenter", "worker", "clock_sequence", "sequence", "has",
        "reserved"
    })
    public static final class Parts extends Structure {
        public long tick;
        public long unix_ms;
        public long node;
        public long datacenter;
        public long worker;
        public long clock_sequence;
        public long sequence;
        public int has;
        public int reserved;
    }

    static {
        Native.register(Library.class, "flakeid");
    }

    private Library() {}

    static native int flakeid_abi_version();

    static native String flakeid_status_message(int status);

    static native String flakeid_status_code(int status);

    static native String flakeid_last_error();

    static native String flakeid_last_error_field();

    static native long flakeid_retry_after_ms();

    static native long flakeid_rollback_ms();

    static native long flakeid_horizon_ms();

    static native int flakeid_manual_clock_new(long unixMs, PointerByReference clock);

    static native int flakeid_manual_clock_set(Pointer clock, long unixMs);

    static native int flakeid_manual_clock_get(Pointer clock, long[] unixMs);

    static native void flakeid_manual_clock_free(Pointer clock);

    static native int flakeid_generator_new(Config config, PointerByReference generator);

    static native int flakeid_generator_open(
            String url, LeaseConfig config, PointerByReference generator);

    static native void flakeid_generator_free(Pointer generator);

    static native int flakeid_generator_next(Pointer generator, long[] id);

    static native int flakeid_generator_try_next(Pointer generator, long[] id);

    static native int flakeid_generator_fill(Pointer generator, long[] ids, long n, long[] count);

    static native int flakeid_generator_try_fill(
            Pointer generator, long[] ids, long n, long[] count);

    static native int flakeid_generator_extend(Pointer generator, long fence);

    static native int flakeid_generator_retire(Pointer generator, long[] lastTick);

    static native int flakeid_generator_stats(Pointer generator, Stats stats);

    static native int flakeid_local_open(Pointer generator, PointerByReference local);

    static native int flakeid_local_next(Pointer local, long[] id);

    static native void flakeid_local_free(Pointer local);

    static native int flakeid_cached_open(
            Pointer generator, Pointer config, PointerByReference cached);

    static native int flakeid_cached_next(Pointer cached, long[] id);

    static native void flakeid_cached_free(Pointer cached);

    static native long flakeid_preset_count();

    static native String flakeid_preset_name(long index);

    static native int flakeid_layout_descriptor(String layout, byte[] buffer, long size);

    static native int flakeid_layout_get_info(String layout, LayoutInfo info);

    static native int flakeid_decode(String layout, long id, Parts parts);

    static native int flakeid_pack(String layout, Parts parts, long[] id);

    static native int flakeid_join_node(
            String layout, long datacenter, long worker, long[] node);

    static native int flakeid_unix_ms_at(String layout, long tick, long[] unixMs);

    static native int flakeid_timestamp(String layout, long unixMs, byte[] buffer, long size);

    static native int flakeid_lower_bound(String layout, long unixMs, long[] id);

    static native int flakeid_upper_bound(String layout, long unixMs, long[] id);

    static native int flakeid_to_bytes(long id, byte[] buffer, long size);

    static native int flakeid_from_bytes(byte[] bytes, long size, long[] id);

    static native int flakeid_to_decimal(long id, byte[] buffer, long size);

    static native int flakeid_to_base32(long id, byte[] buffer, long size);

    static native int flakeid_to_base36(long id, byte[] buffer, long size);

    static native int flakeid_to_base58(long id, byte[] buffer, long size);

    static native int flakeid_to_base62(long id, byte[] buffer, long size);

    static native int flakeid_to_hex(long id, byte[] buffer, long size);

    static native int flakeid_from_decimal(String text, long[] id);

    static native int flakeid_from_base32(String text, long[] id);

    static native int flakeid_from_base36(String text, long[] id);

    static native int flakeid_from_base58(String text, long[] id);

    static native int flakeid_from_base62(String text, long[] id);

    static native int flakeid_from_hex(String text, long[] id);
}
