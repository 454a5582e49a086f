package orders;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;

public interface OrderRepository extends JpaRepository<Order, Long> {
    List<Order> findTop100ByIdGreaterThanEqualAndIdLessThanOrderById(long from, long before);
}
