// vectors FOLDER: runs the shared vectors through the C++ wrapper.
#include "vectors.hpp"

int main(int count, char **arguments) {
    if (count != 2) {
        fail("usage: vectors FOLDER");
    }
    const auto run = [&](const char *name, void (*test)(const value &)) {
        const std::string path = std::string(arguments[1]) + "/" + name + ".json";
        const std::unique_ptr<json_t, decltype(&json_decref)> file(
            json_load_file(path.c_str(), JSON_ALLOW_NUL, nullptr), &json_decref);
        if (!file) {
            fail("cannot read " + path);
        }
        test(value(file.get()));
    };
    try {
        run("errors", test_errors);
        run("layouts", test_layouts);
        run("text", test_text);
        run("uuid", test_uuid);
        run("keyed", test_keyed);
        run("schedules", test_schedules);
    } catch (const std::exception &error) {
        fail(error.what());
    }
    std::cout << "vectors: passed\n";
}
