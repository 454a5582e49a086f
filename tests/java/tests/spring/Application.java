package tests.spring;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** An application with Spring Boot's automatic configuration and the entities of this package. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Application {}
