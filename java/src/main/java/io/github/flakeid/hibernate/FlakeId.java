package io.github.flakeid.hibernate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * Makes Hibernate (6.5 or later) set an ID from a generator, for example {@code @Id @FlakeId private Long id}. The type
 * of the ID is {@code long}, {@code Long}, {@code String} (decimal digits) or {@link java.util.UUID}. The generator is the value of the setting
 * {@link FlakeIdGenerator#SETTING}. In a Spring Boot application, this library's auto-configuration sets this value.
 */
@IdGeneratorType(FlakeIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface FlakeId {}
