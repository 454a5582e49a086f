#include <flakeid.h>
#include <inttypes.h>
#include <stdio.h>

int main(void) {
    flakeid_config config = FLAKEID_CONFIG_INIT;
    flakeid_generator *generator = NULL;
    flakeid_parts parts;
    uint64_t id;
    config.has = FLAKEID_HAS_NODE;
    config.node = 7; /* of 1024 */
    if (flakeid_generator_new(&config, &generator) || flakeid_generator_next(generator, &id) ||
        flakeid_decode(NULL, id, &parts)) {
        return fprintf(stderr, "%s\n", flakeid_last_error()), 1;
    }
    printf("%" PRIu64 " of node %" PRIu64 " at %" PRId64 "\n", id, parts.node, parts.unix_ms);
    flakeid_generator_free(generator);
    return 0;
}
