package tests;

import com.baomidou.mybatisplus.annotation.IdType;
import com.baomidou.mybatisplus.annotation.TableId;
import com.baomidou.mybatisplus.annotation.TableName;
import com.baomidou.mybatisplus.core.MybatisConfiguration;
import com.baomidou.mybatisplus.core.MybatisSqlSessionFactoryBuilder;
import com.baomidou.mybatisplus.core.config.GlobalConfig;
import com.baomidou.mybatisplus.core.mapper.BaseMapper;
import com.baomidou.mybatisplus.core.toolkit.GlobalConfigUtils;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.flakeid.Generator;
import io.github.flakeid.Layout;
import io.github.flakeid.hibernate.FlakeId;
import io.github.flakeid.hibernate.FlakeIdGenerator;
import io.github.flakeid.jackson.FlakeIdModule;
import io.github.flakeid.mybatisplus.FlakeIdentifierGenerator;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.util.logging.LogManager;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/** Tests IDs of rows with Hibernate and MyBatis-Plus. */
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
        public Long id;

        public String item = "tea";
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

    static void run() throws JsonProcessingException {
        // Both frameworks log every step.
        LogManager.getLogManager().reset();
        try (Generator generator = Generator.of(NODE)) {
            hibernate(generator);
            mybatisPlus(generator);
        }
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

    private static void mybatisPlus(Generator generator) throws JsonProcessingException {
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
            // Neither the row class nor a map of columns has annotations of Jackson.
            ObjectMapper mapper = new ObjectMapper().registerModule(new FlakeIdModule());
            String row = mapper.writeValueAsString(invoices.selectById(last));
            check(row.equals("{\"id\":\"" + last + "\",\"item\":\"tea\"}"), row);
            String columns = mapper.writeValueAsString(invoices.selectMaps(null));
            check(columns.contains("\"ID\":\"" + last + "\""), columns);
        }
    }
}
