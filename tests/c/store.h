/* An SQLite store in a temporary folder, which is removed at the end. */
#ifndef STORE_H
#define STORE_H

#include <dirent.h>
#include <unistd.h>

#include "check.h"

static char store_folder[64];
static char store_url[128];

static void make_store(void) {
    strcpy(store_folder, "/tmp/flakeid-c-XXXXXX");
    CHECK(mkdtemp(store_folder) != NULL, "a folder");
    snprintf(store_url, sizeof store_url, "sqlite://%s/flakeid.db", store_folder);
}

static void remove_store(void) {
    DIR *folder = opendir(store_folder);
    struct dirent *entry;
    CHECK(folder != NULL, "the folder");
    while ((entry = readdir(folder)) != NULL) {
        char path[512];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%.255s", store_folder, entry->d_name);
        CHECK(unlink(path) == 0, path);
    }
    closedir(folder);
    CHECK(rmdir(store_folder) == 0, store_folder);
}

static uint64_t node_of(uint64_t id) {
    flakeid_parts parts;
    EXPECT(FLAKEID_OK, flakeid_decode(NULL, id, &parts));
    return parts.node;
}

#endif
