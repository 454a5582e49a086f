import cn.hutool.core.lang.Snowflake;
import com.baomidou.mybatisplus.core.toolkit.Sequence;
import com.github.f4b6a3.tsid.TsidCreator;
import com.github.yitter.contract.IdGeneratorOptions;
import com.github.yitter.idgen.YitIdHelper;
import java.util.function.LongSupplier;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;

/** Prints ten IDs of each Java package: see ../README.md. */
public final class MakeIds {
    /** Prints ten IDs, generated 3 ms apart. */
    private static void show(String name, String layout, LongSupplier next) throws InterruptedException {
        StringBuilder line = new StringBuilder(name).append('\t').append(layout);
        for (int count = 0; count < 10; count++) {
            Thread.sleep(3);
            line.append('\t').append(next.getAsLong());
        }
        System.out.println(line);
    }

    public static void main(String[] arguments) throws InterruptedException {
        show("tsid-creator", "tsid", () -> TsidCreator.getTsid().toLong());
        show("hutool", "twitter", new Snowflake(5, 3)::nextId);
        show("MyBatis-Plus", "twitter", new Sequence(7, 9)::nextId);
        YitIdHelper.setIdGenerator(new IdGeneratorOptions((short) 3));
        show("yitter (Java)", "js-safe", YitIdHelper::nextId);
        show("CosId", "cosid", new MillisecondSnowflakeId(12)::generate);
    }
}
