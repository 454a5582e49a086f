package tests;

import io.github.flakeid.spring.FlakeIdProperties;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.configurationmetadata.ConfigurationMetadataProperty;
import org.springframework.boot.configurationmetadata.ConfigurationMetadataRepositoryJsonBuilder;

/** Tests the descriptions of Spring Boot's properties, which editors show. */
final class Metadata {
    private static final String FILE = "/META-INF/spring-configuration-metadata.json";

    private Metadata() {}

    static void run() throws IOException {
        Map<String, String> wanted = new TreeMap<>();
        collect("flakeid.", FlakeIdProperties.class, wanted);
        Map<String, String> described = new TreeMap<>();
        try (InputStream file = FlakeIdProperties.class.getResourceAsStream(FILE)) {
            Map<String, ConfigurationMetadataProperty> all =
                    ConfigurationMetadataRepositoryJsonBuilder.create(file).build().getAllProperties();
            all.forEach((name, property) -> {
                described.put(name, property.getType());
                if (!property.getDescription().endsWith(".") || property.getDescription().contains("`")) {
                    throw new AssertionError(name + ": " + property.getDescription());
                }
            });
        }
        if (!described.equals(wanted)) {
            throw new AssertionError("described: " + described + ", but the properties are " + wanted);
        }
    }

    /** Collects the names and types of properties, with those of nested records. */
    private static void collect(String prefix, Class<?> properties, Map<String, String> found) {
        for (RecordComponent component : properties.getRecordComponents()) {
            String name = prefix + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT);
            if (component.getType().isRecord()) {
                collect(name + ".", component.getType(), found);
            } else {
                found.put(name, component.getType() == boolean.class ? "java.lang.Boolean" : component.getType().getName());
            }
        }
    }
}
