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
import io.github.flakeid.Uuids;
import io.github.flakeid.hibernate.FlakeId;
import io.github.flakeid.hibernate.FlakeIdGenerator;
import io.github.flakeid.hibernate.FlakeIdUuid;
import io.github.flakeid.jackson.FlakeIdModule;
import io.github.flakeid.mybatisplus.FlakeIdentifierGenerator;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.util.List;
import java.util.UUID;
import java.util.logging.LogManager;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.JavaType;
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

    /** A row whose ID is a number in the program, and a UUID in the database. */
    @Entity(name = "crates")
    static class Crate {
        @Id @FlakeId @JavaType(FlakeIdUuid.class) Long id;
        @JavaType(FlakeIdUuid.class) long label;
        @JavaType(FlakeIdUuid.class) Long parent;
    }

    /** A row whose ID is a UUID. */
    @Entity(name = "pallets")
    static class Pallet {
        @Id @FlakeId UUID id;
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
        uuids(generator);
        refused(tables(Order.class), "flakeid.generator");
        Configuration wrong = tables(Wrong.class);
        wrong.getProperties().put(FlakeIdGenerator.SETTING, generator);
        refused(wrong, "java.lang.Integer");
    }

    private static void uuids(Generator generator) {
        Configuration configuration = tables(Crate.class, Pallet.class);
        configuration.getProperties().put(FlakeIdGenerator.SETTING, generator);
        try (SessionFactory factory = configuration.buildSessionFactory(); Session session = factory.openSession()) {
            session.beginTransaction();
            Crate first = new Crate();
            first.label = -1; // the largest unsigned ID
            session.persist(first);
            Crate second = new Crate();
            second.label = 5;
            second.parent = first.id;
            session.persist(second);
            checkRising(first.id, second.id);
            Pallet pallet = new Pallet();
            session.persist(pallet);
            checkRising(second.id, Uuids.fromUuid(pallet.id));
            session.flush();
            session.clear();

            check(session.find(Crate.class, first.id).label == -1, "the label has changed");
            List<Long> labels = session.createQuery("select label from crates order by label", Long.class).list();
            check(labels.equals(List.of(5L, -1L)), labels);
            String later = "from crates where id > :id and parent = :id";
            List<Crate> found = session.createQuery(later, Crate.class).setParameter("id", first.id).list();
            check(found.size() == 1 && found.get(0).id.equals(second.id), found);
            check(session.find(Pallet.class, pallet.id) != null, "the pallet is missing");
            String types = "SELECT data_type FROM information_schema.columns WHERE table_name = 'CRATES'";
            List<String> columns = session.createNativeQuery(types, String.class).list();
            check(columns.equals(List.of("UUID", "UUID", "UUID")), columns);
            Object stored = session.createNativeQuery("SELECT id FROM crates ORDER BY id LIMIT 1", UUID.class).getSingleResult();
            check(stored.equals(Uuids.toUuid(first.id)), stored);

            session.createNativeMutationQuery("UPDATE crates SET parent = random_uuid()").executeUpdate();
            session.clear();
            try {
                throw new AssertionError(session.find(Crate.class, first.id).parent);
            } catch (RuntimeException refusal) {
                check(said(refusal, "version 4"), refusal);
            }
            session.getTransaction().rollback();
        }
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
