package tests.spring;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** What Spring Boot configures by itself, with the entities of this package. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Application {}
