import cn.hutool.core.lang.Snowflake;
import com.baomidou.mybatisplus.core.toolkit.Sequence;
import com.github.f4b6a3.tsid.TsidFactory;
import com.github.yitter.contract.IdGeneratorOptions;
import com.github.yitter.idgen.DefaultIdGenerator;
import com.xfvape.uid.impl.CachedUidGenerator;
import com.xfvape.uid.impl.DefaultUidGenerator;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;

/** Generators of other libraries, with their default of 12 sequence bits, or with so many that no tick fills up. */
final class Rivals {
    private static final long YEAR_2020 = LocalDate.of(2020, 1, 1).toEpochDay() * 86_400_000;

    private Rivals() {}

    static LongSupplier cosid(int sequenceBits) {
        return new MillisecondSnowflakeId(YEAR_2020, 41, 22 - sequenceBits, sequenceBits, 1)::generate;
    }

    /** Generator with 12 sequence bits. With the ticker it reads no clock. */
    static LongSupplier hutool(int node, boolean ticker) {
        return new Snowflake(node >> 5 & 31, node & 31, ticker)::nextId;
    }

    /** Generator with 12 sequence bits. */
    static LongSupplier mybatisPlus(int node) {
        return new Sequence(node & 31, node >> 5 & 31)::nextId;
    }

    static LongSupplier yitter(int sequenceBits) {
        IdGeneratorOptions options = new IdGeneratorOptions((short) 1);
        options.WorkerIdBitLength = (byte) (22 - sequenceBits);
        options.SeqBitLength = (byte) sequenceBits;
        return new DefaultIdGenerator(options)::newLong;
    }

    static LongSupplier tsid(int counterBits) {
        TsidFactory factory = TsidFactory.builder().withNodeBits(22 - counterBits).withNode(1).build();
        return () -> factory.create().toLong();
    }

    /** Generator whose tick is a second. */
    static LongSupplier baidu(int sequenceBits) throws Exception {
        return prepared(new DefaultUidGenerator(), sequenceBits)::getUID;
    }

    /** Ring with default settings: eight seconds of 8,192 IDs, refilled below a half, which borrows from later seconds. */
    static CachedUidGenerator baiduRing() throws Exception {
        return (CachedUidGenerator) prepared(new CachedUidGenerator(), 13);
    }

    private static DefaultUidGenerator prepared(DefaultUidGenerator generator, int sequenceBits) throws Exception {
        generator.setTimeBits(31);
        generator.setWorkerBits(32 - sequenceBits);
        generator.setSeqBits(sequenceBits);
        generator.setEpochStr(LocalDate.now(ZoneOffset.UTC).minusDays(2).toString());
        generator.setWorkerIdAssigner(() -> 1);
        generator.afterPropertiesSet();
        return generator;
    }

    /** 1,024 generators that take turns with 128 IDs each, so that the call is measured and not the wait. */
    static LongSupplier inTurn(IntFunction<LongSupplier> make) {
        LongSupplier[] generators = new LongSupplier[1024];
        for (int node = 0; node < generators.length; node++) {
            generators[node] = make.apply(node);
        }
        int[] turn = {0};
        return () -> generators[turn[0]++ >> 7 & 1023].getAsLong();
    }
}
