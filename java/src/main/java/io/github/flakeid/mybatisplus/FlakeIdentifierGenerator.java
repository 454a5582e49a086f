package io.github.flakeid.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.github.flakeid.Generator;
import java.util.Objects;

/**
 * Generates IDs for MyBatis-Plus fields with {@code @TableId(type = IdType.ASSIGN_ID)}. Register an instance of this
 * class with {@code GlobalConfig.setIdentifierGenerator}.
 */
public final class FlakeIdentifierGenerator implements IdentifierGenerator {
    private final Generator generator;

    /** Creates an adapter for a generator. The application has to close the generator. */
    public FlakeIdentifierGenerator(Generator generator) {
        this.generator = Objects.requireNonNull(generator, "generator");
    }

    @Override
    public Number nextId(Object entity) {
        return generator.nextId();
    }
}
