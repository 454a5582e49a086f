package tests;

import io.github.flakeid.FlakeidException;
import io.github.flakeid.Generator;
import io.github.flakeid.Layout;
import io.github.flakeid.spring.FlakeIdProperties;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.persistence.EntityManagerFactory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.LogManager;
import org.hibernate.SessionFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tests.spring.Application;
import tests.spring.Customer;

/**
 * Tests the auto-configuration for Spring Boot: the generator, its health, its meters, and IDs in JSON. The class runs
 * with the jars of Spring Boot 3, and with the jars of Spring Boot 4.
 */
public final class SpringBoot {
    private static final long NODE = 7;
    private static final String PASSWORD = "s3cret";
    /** Creates only the requested beans, so that the application starts quickly. */
    private static final String LAZY = "spring.main.lazy-initialization=true";

    private SpringBoot() {}

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        fixed();
        leased(Files.createTempDirectory("flakeid-spring").resolve("store.db"));
        refusals();
        endpoints();
        if (hasJackson3()) {
            Json3.run();
        }
    }

    private static void check(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static void checkIncludes(String text, String... parts) {
        for (String part : parts) {
            check(text.contains(part), "no " + part + " in " + text);
        }
    }

    private static void checkNode(long id, long node) {
        check(Layout.TWITTER.parts(id).node() == node, id);
    }

    private static ConfigurableApplicationContext started(String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "logging.level.root=off", "spring.jpa.hibernate.ddl-auto=create-drop")
                .properties(properties)
                .run();
    }

    /** Returns the status and the details, which have other types in each version of Spring Boot. */
    private static String health(ConfigurableApplicationContext context) throws ReflectiveOperationException {
        Object indicator = context.getBean("flakeidHealthIndicator");
        return indicator.getClass().getSuperclass().getMethod("health").invoke(indicator).toString();
    }

    private static void fixed() throws Exception {
        Generator seen;
        try (ConfigurableApplicationContext context = started("flakeid.node=" + NODE, "flakeid.layout=twitter")) {
            seen = context.getBean(Generator.class);
            checkNode(seen.nextId(), NODE);
            EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
            Customer customer = new Customer();
            factory.unwrap(SessionFactory.class).inTransaction(session -> session.persist(customer));
            checkNode(customer.id(), NODE);
            String health = health(context);
            check(health.startsWith("UP") && health.contains("flakeidGenerator") && !health.contains("fence"), health);
            String meters = context.getBean(PrometheusMeterRegistry.class).scrape();
            checkIncludes(meters, "flakeid_rollbacks_total{name=\"flakeidGenerator\"} 0.0");
            check(!meters.contains("flakeid_lease"), meters);
            for (String bean : context.getBeanDefinitionNames()) {
                check(!bean.contains("Jackson") || !bean.contains("flakeid"), bean + " without flakeid.json-strings");
            }
        }
        try {
            throw new AssertionError("generated " + seen.nextId() + " after the end of the context");
        } catch (FlakeidException closed) {
            check(closed.code().equals("FLAKEID_CLOSED"), closed);
        }
        try (ConfigurableApplicationContext context = started(LAZY, "flakeid.datacenter=3", "flakeid.worker=4")) {
            checkNode(context.getBean(Generator.class).nextId(), 3 << 5 | 4);
        }
    }

    private static void leased(Path file) throws Exception {
        String store = "flakeid.store=sqlite://" + file;
        try (ConfigurableApplicationContext context = started(store, "flakeid.namespace=orders", "flakeid.nodes.from=40",
                "flakeid.nodes.to=40", "flakeid.ttl=30s", "flakeid.window=2s", "flakeid.overflow=wait",
                "flakeid.rollback=error", "flakeid.sequence-start=2", "flakeid.max-wait=200ms", "flakeid.clock=system",
                "flakeid.reuse=true", "flakeid.epoch=2010-11-04T01:42:54.657Z", "flakeid.json-strings=true")) {
            Generator generator = context.getBean(Generator.class);
            checkNode(generator.nextId(), 40);
            checkIncludes(health(context), "UP", "fencedOff=false", "lastError=FLAKEID_OK", "grants=1");
            String meters = context.getBean(PrometheusMeterRegistry.class).scrape();
            checkIncludes(meters, "flakeid_window_seconds{name=\"flakeidGenerator\"} 1.",
                    "flakeid_layout_end_timestamp_seconds{", "flakeid_lease_grants_total{name=\"flakeidGenerator\"} 1.0",
                    "flakeid_lease_renewals_total{", "flakeid_lease_failures_total{", "flakeid_waits_total{");
            inJson(context, generator.nextId());
            generator.close();
            // The window of the lease ends.
            Thread.sleep(2_100);
            checkIncludes(health(context), "DOWN");
        }
        try (ConfigurableApplicationContext context = started(LAZY, store, "flakeid.lease-node=9")) {
            checkNode(context.getBean(Generator.class).nextId(), 9);
        }
        try (ConfigurableApplicationContext context = started(LAZY, store, "flakeid.node-count=4")) {
            check(context.getBean(Generator.class).nodes().length == 4, "four nodes");
        }
    }

    private static boolean hasJackson3() {
        try {
            return Class.forName("tools.jackson.databind.JacksonModule") != null;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    private static String written(ConfigurableApplicationContext context, Object value) throws Exception {
        return hasJackson3() ? Json3.written(context, value) : Json.written(context, value);
    }

    private static void inJson(ConfigurableApplicationContext context, long id) throws Exception {
        String json = written(context, new Long[] {id, 7L});
        check(json.equals("[\"" + id + "\",7]"), json);
    }

    /** Checks that contexts with contradictory properties do not start, and that no error shows the password. */
    private static void refusals() {
        String store = "flakeid.store=postgresql://u:" + PASSWORD + "@127.0.0.1:1/d";
        refused("flakeid.node is set and flakeid.store is set", LAZY, store, "flakeid.node=1");
        refused("flakeid.datacenter and flakeid.worker are set and flakeid.store is set", LAZY, store, "flakeid.worker=1");
        refused("flakeid.node is set and flakeid.ttl is set", LAZY, "flakeid.node=1", "flakeid.ttl=30s");
        refused("flakeid.nodes.from is 3 and flakeid.nodes.to is null", LAZY, store, "flakeid.nodes.from=3");
        refused("postgresql://127.0.0.1:1/d", LAZY, store, "flakeid.max-wait=10ms");
        refused("flakeid.ttl", LAZY, store, "flakeid.ttl=soon");
    }

    private static void refused(String part, String... properties) {
        try (ConfigurableApplicationContext context = started(properties)) {
            throw new AssertionError(context.getBean(Generator.class) + " was created");
        } catch (BeanCreationException refusal) {
            StringWriter shown = new StringWriter();
            refusal.printStackTrace(new PrintWriter(shown));
            checkIncludes(shown.toString(), part);
            check(!shown.toString().contains(PASSWORD), refusal);
        }
    }

    /** Checks that an endpoint that shows the values of all properties hides the URL of the store. */
    private static void endpoints() throws Exception {
        Path file = Files.createTempDirectory("flakeid-spring").resolve(PASSWORD + ".db");
        try (ConfigurableApplicationContext context = started(LAZY, "flakeid.store=sqlite://" + file, "flakeid.name=orders",
                "spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=*",
                "management.endpoint.configprops.show-values=always")) {
            check(context.getBean(Generator.class).nextId() > 0, "an ID");
            String shown = written(context, context.getBean(ConfigurationPropertiesReportEndpoint.class)
                    .configurationPropertiesWithPrefix("flakeid"));
            checkIncludes(shown, "orders", "******");
            check(!shown.contains(PASSWORD), shown);
            String properties = context.getBean(FlakeIdProperties.class).toString();
            checkIncludes(properties, "orders");
            check(!properties.contains(PASSWORD), properties);
        }
    }
}
