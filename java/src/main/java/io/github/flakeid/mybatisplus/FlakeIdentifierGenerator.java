package io.github.flakeid.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.github.flakeid.Generator;
import java.util.Objects;

/** Gives IDs to MyBatis-Plus, for {@code @TableId(type = IdType.ASSIGN_ID)}: {@code GlobalConfig.setIdentifierGenerator}. */
public final class FlakeIdentifierGenerator implements IdentifierGenerator {
    private final Generator generator;

    /** Of this generator, which whoever opened it closes. */
    public FlakeIdentifierGenerator(Generator generator) {
        this.generator = Objects.requireNonNull(generator, "generator");
    }

    @Override
    public Number nextId(Object entity) {
        return generator.nextId();
    }
}
