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
}
