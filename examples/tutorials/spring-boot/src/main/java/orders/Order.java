package orders;

import io.github.flakeid.Layout;
import io.github.flakeid.hibernate.FlakeId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.Instant;

/** A row, and its form in JSON. */
@Entity
@Table(name = "orders")
public class Order {
    @Id @FlakeId private Long id;
    private String item;
    private Long again;

    protected Order() {}

    public Order(String item, Long again) {
        this.item = item;
        this.again = again;
    }

    public Long getId() {
        return id;
    }

    public String getItem() {
        return item;
    }

    /** Returns the ID of the order that this order repeats, or null. */
    public Long getAgain() {
        return again;
    }

    /** Returns the time in the ID, so that the table needs no column for the time. */
    public Instant getCreatedAt() {
        return Layout.TWITTER.time(id);
    }
}
