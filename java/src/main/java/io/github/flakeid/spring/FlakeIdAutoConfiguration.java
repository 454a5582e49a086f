package io.github.flakeid.spring;

import io.github.flakeid.Generator;
import io.github.flakeid.hibernate.FlakeIdGenerator;
import io.github.flakeid.micrometer.FlakeIdMetrics;
import io.github.flakeid.mybatisplus.FlakeIdentifierGenerator;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;

/**
 * Creates a {@link Generator} for a Spring Boot application (3.2 or later) from {@link FlakeIdProperties}. Spring
 * closes the generator when the application context closes, which releases a leased node. Hibernate and MyBatis-Plus
 * receive the generator if they are on the class path.
 */
@AutoConfiguration
@EnableConfigurationProperties(FlakeIdProperties.class)
public class FlakeIdAutoConfiguration {
    /** Creates the configuration. Spring calls this constructor. */
    public FlakeIdAutoConfiguration() {}

    /** Creates the generator, unless the application defines its own generator. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    public Generator flakeidGenerator(FlakeIdProperties properties) {
        return properties.open();
    }

    /** Passes the generator to Hibernate. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.hibernate.annotations.IdGeneratorType",
                "org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean"
            })
    static class OfHibernate {
        @Bean
        static BeanPostProcessor flakeidOfHibernate(ObjectProvider<Generator> generator) {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessBeforeInitialization(Object bean, String name) {
                    if (bean instanceof LocalContainerEntityManagerFactoryBean factory) {
                        factory.getJpaPropertyMap().putIfAbsent(FlakeIdGenerator.SETTING, generator.getObject());
                    }
                    return bean;
                }
            };
        }
    }

    /** Passes the generator to MyBatis-Plus. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator")
    static class OfMybatisPlus {
        @Bean
        @ConditionalOnMissingBean(type = "com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator")
        FlakeIdentifierGenerator flakeidOfMybatisPlus(Generator generator) {
            return new FlakeIdentifierGenerator(generator);
        }
    }

    /** Makes Jackson 2 write IDs as strings, if the property {@code flakeid.json-strings} is set. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.fasterxml.jackson.databind.Module")
    @ConditionalOnProperty(name = "flakeid.json-strings", havingValue = "true")
    static class OfJackson2 {
        @Bean
        @ConditionalOnMissingBean
        io.github.flakeid.jackson.FlakeIdModule flakeidOfJackson2() {
            return new io.github.flakeid.jackson.FlakeIdModule();
        }
    }

    /** Makes Jackson 3 write IDs as strings, if the property {@code flakeid.json-strings} is set. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "tools.jackson.databind.JacksonModule")
    @ConditionalOnProperty(name = "flakeid.json-strings", havingValue = "true")
    static class OfJackson3 {
        @Bean
        @ConditionalOnMissingBean
        io.github.flakeid.jackson3.FlakeIdModule flakeidOfJackson3() {
            return new io.github.flakeid.jackson3.FlakeIdModule();
        }
    }

    /** Shows the generators in the health endpoint of Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.actuate.health.HealthIndicator",
                "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
            })
    @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator("flakeid")
    static class OfHealth3 {
        @Bean
        @ConditionalOnMissingBean(name = "flakeidHealthIndicator")
        org.springframework.boot.actuate.health.HealthIndicator flakeidHealthIndicator(Map<String, Generator> generators) {
            return new org.springframework.boot.actuate.health.AbstractHealthIndicator() {
                @Override
                protected void doHealthCheck(org.springframework.boot.actuate.health.Health.Builder health) {
                    GeneratorHealth of = GeneratorHealth.of(generators);
                    (of.isUp() ? health.up() : health.down()).withDetails(of.details());
                }
            };
        }
    }

    /** Shows the generators in the health endpoint of Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.health.contributor.HealthIndicator",
                "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
            })
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("flakeid")
    static class OfHealth4 {
        @Bean
        @ConditionalOnMissingBean(name = "flakeidHealthIndicator")
        org.springframework.boot.health.contributor.HealthIndicator flakeidHealthIndicator(Map<String, Generator> generators) {
            return new org.springframework.boot.health.contributor.AbstractHealthIndicator() {
                @Override
                protected void doHealthCheck(org.springframework.boot.health.contributor.Health.Builder health) {
                    GeneratorHealth of = GeneratorHealth.of(generators);
                    (of.isUp() ? health.up() : health.down()).withDetails(of.details());
                }
            };
        }
    }

    /** Binds the meters of each generator to Micrometer, with the generator's bean name as the tag {@code name}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "io.micrometer.core.instrument.binder.MeterBinder")
    static class OfMicrometer {
        @Bean
        @ConditionalOnMissingBean(name = "flakeidMeters")
        MeterBinder flakeidMeters(Map<String, Generator> generators) {
            return registry -> generators.forEach(
                    (name, generator) -> new FlakeIdMetrics(generator, Tags.of("name", name)).bindTo(registry));
        }
    }

    /** Hides the URL of the store in the endpoints that show properties. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.SanitizingFunction")
    static class OfEndpoints {
        @Bean
        SanitizingFunction flakeidSanitizingFunction() {
            return data -> isStore(data.getKey()) ? data.withSanitizedValue() : data;
        }

        /** Whether a property or an environment variable contains the URL of the store. */
        private static boolean isStore(String key) {
            return key.equals("flakeid.store") || key.equals("FLAKEID_STORE");
        }
    }
}
