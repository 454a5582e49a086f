package io.github.flakeid.hibernate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * Lets Hibernate 6.5 or later set this ID from a generator: {@code @Id @FlakeId private Long id}. The type is
 * {@code long}, {@code Long} or {@code String} (decimal digits). The generator is the value of the setting
 * {@link FlakeIdGenerator#SETTING}, which the Spring Boot configuration of this library creates.
 */
@IdGeneratorType(FlakeIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface FlakeId {}
