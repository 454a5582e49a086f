package orders;

import io.github.flakeid.Layout;
import java.time.Instant;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/orders")
public class OrderController {
    private final OrderRepository orders;

    OrderController(OrderRepository orders) {
        this.orders = orders;
    }

    public record NewOrder(String item, Long again) {}

    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    public Order create(@RequestBody NewOrder order) {
        return orders.save(new Order(order.item(), order.again()));
    }

    @GetMapping("/{id}")
    public Order read(@PathVariable long id) {
        return orders.findById(id).orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }

    @GetMapping
    public List<Order> between(@RequestParam Instant since, @RequestParam(required = false) Instant until) {
        Instant end = until == null ? Instant.now().plusSeconds(60) : until;
        // The condition uses the index of the primary key.
        return orders.findTop100ByIdGreaterThanEqualAndIdLessThanOrderById(
                Layout.TWITTER.lowerBound(since), Layout.TWITTER.lowerBound(end));
    }
}
