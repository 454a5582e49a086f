package io.github.flakeid.hibernate;

import io.github.flakeid.Uuids;
import org.hibernate.type.descriptor.WrapperOptions;
import org.hibernate.type.descriptor.java.AbstractClassJavaType;
import org.hibernate.type.descriptor.java.UUIDJavaType;
import org.hibernate.type.descriptor.jdbc.JdbcType;
import org.hibernate.type.descriptor.jdbc.JdbcTypeIndicators;

/**
 * Makes Hibernate (6.5 or later) store an ID in a column of UUIDs, for example
 * {@code @Id @FlakeId @JavaType(FlakeIdUuid.class) private Long id}. The type of the ID is {@code long} or {@code Long}.
 *
 * <p>Unlike a JPA converter, this class can be used for primary keys. Hibernate fails to read a UUID that
 * {@link Uuids#toUuid} did not return, with {@code FLAKEID_INVALID_ID}.
 */
public final class FlakeIdUuid extends AbstractClassJavaType<Long> {
    private static final long serialVersionUID = 1;

    /** Creates the type. Hibernate calls this constructor. */
    public FlakeIdUuid() {
        super(Long.class);
    }

    @Override
    public JdbcType getRecommendedJdbcType(JdbcTypeIndicators indicators) {
        return UUIDJavaType.INSTANCE.getRecommendedJdbcType(indicators);
    }

    @Override
    public String toString(Long id) {
        return Uuids.toUuid(id).toString();
    }

    @Override
    public Long fromString(CharSequence text) {
        return Uuids.fromUuid(UUIDJavaType.INSTANCE.fromString(text));
    }

    @Override
    public <X> X unwrap(Long id, Class<X> type, WrapperOptions options) {
        if (id == null) {
            return null;
        }
        if (type == Long.class) {
            return type.cast(id);
        }
        return UUIDJavaType.INSTANCE.unwrap(Uuids.toUuid(id), type, options);
    }

    @Override
    public <X> Long wrap(X value, WrapperOptions options) {
        if (value == null || value instanceof Long) {
            return (Long) value;
        }
        return Uuids.fromUuid(UUIDJavaType.INSTANCE.wrap(value, options));
    }
}
