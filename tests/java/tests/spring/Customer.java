package tests.spring;

import io.github.flakeid.hibernate.FlakeId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A row whose ID comes from the generator that Spring Boot's properties describe. */
@Entity
public class Customer {
    @Id @FlakeId private long id;

    public long id() {
        return id;
    }
}
