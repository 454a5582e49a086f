package tests;

import com.baomidou.mybatisplus.annotation.IdType;
import com.baomidou.mybatisplus.annotation.TableId;
import com.baomidou.mybatisplus.annotation.TableName;
import com.baomidou.mybatisplus.core.MybatisConfiguration;
import com.baomidou.mybatisplus.core.MybatisSqlSessionFactoryBuilder;
import com.baomidou.mybatisplus.core.config.GlobalConfig;
import com.baomidou.mybatisplus.core.mapper.BaseMapper;
import com.baomidou.mybatisplus.core.toolkit.GlobalConfigUtils;
import io.github.flakeid.Generator;
import io.github.flakeid.Layout;
import io.github.flakeid.hibernate.FlakeId;
import io.github.flakeid.hibernate.FlakeIdGenerator;
import io.github.flakeid.mybatisplus.FlakeIdentifierGenerator;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.LogManager;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tests.spring.Application;
import tests.spring.Customer;

/** Tests IDs of rows with Hibernate and MyBatis-Plus, which both use a generator of Spring Boot's properties. */
final class Frameworks {
    private static final long NODE = 7;

    private Frameworks() {}

    /** A row whose ID is a number. */
    @Entity(name = "orders")
    static class Order {
        @Id @FlakeId Long id;
        String item = "tea";
    }

    /** A row whose ID is a string of digits. */
    @Entity(name = "parcels")
    static class Parcel {
        @Id @FlakeId String id;
    }

    /** A row whose key cannot hold an ID. */
    @Entity(name = "wrongs")
    static class Wrong {
        @Id @FlakeId Integer id;
    }

    /** A row in the style of MyBatis-Plus. */
    @TableName("invoices")
    static class Invoice {
        @TableId(type = IdType.ASSIGN_ID)
        Long id;

        String item = "tea";
    }

    /** The mapper of the invoices table. */
    interface Invoices extends BaseMapper<Invoice> {}

    private static void check(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    private static void checkRising(long last, long id) {
        check(id > last && Layout.of("twitter").parts(id).node() == NODE, id);
    }

    static void run() throws IOException {
        // Both frameworks log every step.
        LogManager.getLogManager().reset();
        try (Generator generator = Generator.of(NODE)) {
            hibernate(generator);
            mybatisPlus(generator);
        }
        spring();
    }

    private static Configuration tables(Class<?>... entities) {
        Configuration configuration = new Configuration()
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:hibernate")
                .setProperty("hibernate.jdbc.batch_size", "20")
                .setProperty("hibernate.hbm2ddl.auto", "create-drop");
        for (Class<?> entity : entities) {
            configuration.addAnnotatedClass(entity);
        }
        return configuration;
    }

    private static void hibernate(Generator generator) {
        Configuration configuration = tables(Order.class, Parcel.class);
        configuration.getProperties().put(FlakeIdGenerator.SETTING, generator);
        try (SessionFactory factory = configuration.buildSessionFactory(); Session session = factory.openSession()) {
            session.beginTransaction();
            long last = 0;
            for (int count = 0; count < 100; count++) {
                Order order = new Order();
                session.persist(order);
                checkRising(last, order.id);
                last = order.id;
            }
            Parcel parcel = new Parcel();
            session.persist(parcel);
            checkRising(last, Long.parseLong(parcel.id));
            session.getTransaction().commit();
            session.clear();
            check(session.find(Order.class, last) != null, "the last order is missing");
            check(session.find(Parcel.class, parcel.id) != null, "the parcel is missing");
        }
        refused(tables(Order.class), "flakeid.generator");
        Configuration wrong = tables(Wrong.class);
        wrong.getProperties().put(FlakeIdGenerator.SETTING, generator);
        refused(wrong, "java.lang.Integer");
    }

    private static void refused(Configuration configuration, String part) {
        try (SessionFactory factory = configuration.buildSessionFactory()) {
            throw new AssertionError(factory + " was made");
        } catch (RuntimeException refusal) {
            check(said(refusal, part), refusal);
        }
    }

    private static boolean said(Throwable error, String part) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(part)) {
                return true;
            }
        }
        return false;
    }

    private static void mybatisPlus(Generator generator) {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:mybatis;DB_CLOSE_DELAY=-1;INIT=CREATE TABLE IF NOT EXISTS invoices (id BIGINT, item TEXT)");
        MybatisConfiguration configuration =
                new MybatisConfiguration(new Environment("tests", new JdbcTransactionFactory(), database));
        GlobalConfig global = GlobalConfigUtils.defaults();
        global.setIdentifierGenerator(new FlakeIdentifierGenerator(generator));
        GlobalConfigUtils.setGlobalConfig(configuration, global);
        configuration.addMapper(Invoices.class);
        try (SqlSession session = new MybatisSqlSessionFactoryBuilder().build(configuration).openSession(true)) {
            Invoices invoices = session.getMapper(Invoices.class);
            long last = 0;
            for (int count = 0; count < 10; count++) {
                Invoice invoice = new Invoice();
                check(invoices.insert(invoice) == 1, "no row");
                checkRising(last, invoice.id);
                last = invoice.id;
            }
            check(invoices.selectById(last) != null, "the last invoice is missing");
        }
    }

    private static ConfigurableApplicationContext started(String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off", "logging.level.root=off", "spring.jpa.hibernate.ddl-auto=create-drop")
                .properties(properties)
                .run();
    }

    private static void spring() throws IOException {
        Generator seen;
        try (ConfigurableApplicationContext context = started("flakeid.node=" + NODE, "flakeid.layout=twitter")) {
            seen = context.getBean(Generator.class);
            checkRising(0, seen.nextId());
            EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
            Customer customer = new Customer();
            factory.unwrap(SessionFactory.class).inTransaction(session -> session.persist(customer));
            checkRising(0, customer.id());
            checkRising(0, context.getBean(FlakeIdentifierGenerator.class).nextId(null).longValue());
        }
        try {
            throw new AssertionError("generated " + seen.nextId() + " after the end of the context");
        } catch (io.github.flakeid.FlakeidException closed) {
            check(closed.code().equals("FLAKEID_CLOSED"), closed);
        }
        Path store = Files.createTempDirectory("flakeid-spring").resolve("store.db");
        try (ConfigurableApplicationContext context = started("flakeid.store=sqlite://" + store, "flakeid.namespace=orders",
                "flakeid.max-wait=200ms")) {
            context.getBean(Generator.class).nextId();
            check(context.getBean(Generator.class).leaseStatus() != null, "no lease");
        }
        try (ConfigurableApplicationContext context = started("flakeid.store=sqlite://" + store, "flakeid.node=1")) {
            throw new AssertionError(context + " was started");
        } catch (BeanCreationException refusal) {
            check(said(refusal, "flakeid.store"), refusal);
        }
    }
}
