#include "vectors.hpp"

#include <utility>

void test_text(const value &file) {
    using flakeid::text_form;
    const std::vector<std::pair<std::string, text_form>> forms = {
        {"decimal", text_form::decimal}, {"base32", text_form::base32},
        {"base36", text_form::base36},   {"base58", text_form::base58},
        {"base62", text_form::base62},   {"hex", text_form::hex},
        {"base58_flickr", text_form::base58_flickr}, {"zbase32", text_form::zbase32},
    };
    const std::vector<value> groups = file["forms"].rows();
    check(groups.size() == forms.size(), file["forms"]);
    for (std::size_t index = 0; index < forms.size(); ++index) {
        const value &group = groups[index];
        const auto &[name, form] = forms[index];
        check(group["form"].text() == name, group["form"]);
        for (const value &row : group["valid"].rows()) {
            check(flakeid::to_text(form, row["id"].number()) == row["text"].text(), row);
            check(flakeid::from_text(form, row["text"].text()) == row["id"].number(), row);
        }
        for (const value &row : group["accepted"].list()) {
            check(flakeid::from_text(form, row["text"].text()) == row["id"].number(), row);
        }
        for (const value &row : group["rejected"].rows()) {
            refused([&, to = form] { flakeid::from_text(to, row["text"].text()); }, row);
        }
    }
}
