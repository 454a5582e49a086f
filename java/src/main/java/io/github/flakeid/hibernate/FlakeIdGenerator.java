package io.github.flakeid.hibernate;

import io.github.flakeid.Generator;
import io.github.flakeid.Uuids;
import java.lang.reflect.Member;
import java.util.EnumSet;
import java.util.UUID;
import java.util.function.LongFunction;
import org.hibernate.engine.config.spi.ConfigurationService;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;

/** The Hibernate generator that sets the IDs of {@link FlakeId} fields. */
public final class FlakeIdGenerator implements BeforeExecutionGenerator, AnnotationBasedGenerator<FlakeId> {
    /**
     * The name of the Hibernate setting whose value is the {@link Generator}. The application that opened the generator
     * has to close the generator.
     */
    public static final String SETTING = "flakeid.generator";

    private static final long serialVersionUID = 1;

    private transient Generator generator;
    private transient LongFunction<Object> form;

    /** Creates the generator. Hibernate calls this constructor. */
    public FlakeIdGenerator() {}

    @Override
    public void initialize(FlakeId annotation, Member member, GeneratorCreationContext context) {
        Class<?> type = context.getProperty().getType().getReturnedClass();
        if (type == String.class) {
            form = Long::toUnsignedString;
        } else if (type == UUID.class) {
            form = Uuids::toUuid;
        } else if (type == Long.class || type == long.class) {
            form = Long::valueOf;
        } else {
            throw new IllegalArgumentException(
                    "@FlakeId is for long, Long, String and UUID, and " + member + " is " + type.getName());
        }
        Object value = context.getServiceRegistry().requireService(ConfigurationService.class).getSettings().get(SETTING);
        if (!(value instanceof Generator given)) {
            throw new IllegalStateException(
                    "@FlakeId needs the setting " + SETTING + ", a generator of this library, for example"
                            + " Persistence.createEntityManagerFactory(unit, Map.of(\"" + SETTING + "\", generator));"
                            + " it is " + value);
        }
        generator = given;
    }

    @Override
    public Object generate(SharedSessionContractImplementor session, Object owner, Object current, EventType event) {
        return form.apply(generator.nextId());
    }

    @Override
    public EnumSet<EventType> getEventTypes() {
        return EventTypeSets.INSERT_ONLY;
    }
}
