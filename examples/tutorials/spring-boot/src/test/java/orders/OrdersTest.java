package orders;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.autoconfigure.web.servlet.AutoConfigureMockMvc;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** Sends requests to the application, which leases its node from the database as always. */
@SpringBootTest
@AutoConfigureMockMvc
class OrdersTest {
    @Autowired private MockMvcTester http;
    @Autowired private ObjectMapper mapper;

    private JsonNode create(String body) throws Exception {
        var result = http.post().uri("/orders").contentType(MediaType.APPLICATION_JSON).content(body).exchange();
        assertThat(result).hasStatus(HttpStatus.CREATED);
        return mapper.readTree(result.getResponse().getContentAsString());
    }

    private String between(String since, String until) throws Exception {
        var result = http.get().uri("/orders?since={since}&until={until}", since, until).exchange();
        assertThat(result).hasStatusOk();
        return result.getResponse().getContentAsString();
    }

    @Test
    void idsAreStringsThatIncrease() throws Exception {
        JsonNode first = create("{\"item\": \"tea\"}");
        JsonNode second = create("{\"item\": \"coffee\"}");
        assertThat(first.get("id").isTextual()).isTrue();
        assertThat(second.get("id").asLong()).isGreaterThan(first.get("id").asLong());
    }

    @Test
    void orderRepeatsEarlierOrder() throws Exception {
        JsonNode first = create("{\"item\": \"tea\"}");
        JsonNode second = create("{\"item\": \"tea\", \"again\": " + first.get("id") + "}");
        assertThat(http.get().uri("/orders/{id}", second.get("id").asText()).exchange())
                .bodyJson()
                .extractingPath("again")
                .isEqualTo(first.get("id").asText());
    }

    @Test
    void numberIsRejectedAsId() throws Exception {
        String id = create("{\"item\": \"tea\"}").get("id").asText();
        String body = "{\"item\": \"tea\", \"again\": " + id + "}";
        assertThat(http.post().uri("/orders").contentType(MediaType.APPLICATION_JSON).content(body).exchange())
                .hasStatus(HttpStatus.BAD_REQUEST);
    }

    @Test
    void timeOfOrderSelectsOrder() throws Exception {
        JsonNode order = create("{\"item\": \"tea\"}");
        Instant created = Instant.parse(order.get("createdAt").asText());
        assertThat(Duration.between(created, Instant.now()).abs()).isLessThan(Duration.ofSeconds(10));
        String id = order.get("id").asText();
        assertThat(between(created.toString(), created.plusMillis(1).toString())).contains(id);
        assertThat(between("2020-01-01T00:00:00Z", created.toString())).doesNotContain(id);
    }

    @Test
    void concurrentOrdersHaveDistinctIds() {
        long distinct = IntStream.range(0, 200)
                .parallel()
                .mapToObj(order -> {
                    try {
                        return create("{\"item\": \"tea\"}").get("id").asText();
                    } catch (Exception failure) {
                        throw new AssertionError(failure);
                    }
                })
                .distinct()
                .count();
        assertThat(distinct).isEqualTo(200);
    }
}
