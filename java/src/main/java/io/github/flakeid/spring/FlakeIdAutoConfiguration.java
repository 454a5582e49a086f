package io.github.flakeid.spring;

import io.github.flakeid.Generator;
import io.github.flakeid.hibernate.FlakeIdGenerator;
import io.github.flakeid.mybatisplus.FlakeIdentifierGenerator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;

/**
 * A {@link Generator} for a Spring Boot application (3.2 or later), by {@link FlakeIdProperties}. It is closed with the
 * application's context, which gives the node back. Hibernate and MyBatis-Plus get it if they are there.
 */
@AutoConfiguration
@EnableConfigurationProperties(FlakeIdProperties.class)
public class FlakeIdAutoConfiguration {
    /** For Spring. */
    public FlakeIdAutoConfiguration() {}

    /** The generator, unless the application has one of its own. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    public Generator flakeidGenerator(FlakeIdProperties properties) {
        return properties.open();
    }

    /** Tells Hibernate of it. */
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

    /** Tells MyBatis-Plus of it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator")
    static class OfMybatisPlus {
        @Bean
        @ConditionalOnMissingBean(type = "com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator")
        FlakeIdentifierGenerator flakeidOfMybatisPlus(Generator generator) {
            return new FlakeIdentifierGenerator(generator);
        }
    }
}
