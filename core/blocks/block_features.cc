#include "blocks/block_features.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "util/error.h"
#include "util/text.h"

namespace hopefear {

void append_escaped(std::string& name, std::string_view word) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : word) {
    if (c == '(' || c == ')' || c == ',' || c == '%' || c == '=' || c == '|' || (c >= 0 && c <= ' ') || c == 0x7f) {
      name += '%';
      name += kHex[static_cast<unsigned char>(c) >> 4];
      name += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      name += c;
    }
  }
}

namespace {

uint64_t escaped_hash(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return text_hash(text);
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    int value = 0;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(&text[i] + 1, &text[i] + 3, value, 16).ptr == &text[i] + 3) {
      plain += static_cast<char>(value);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return text_hash(plain);
}

}  // namespace

uint64_t feature_key(std::string_view name) {
  const size_t open = name.find('(');
  if (open == std::string_view::npos || name.back() != ')') return key_end(text_hash(name));
  uint64_t key = text_hash(name.substr(0, open));
  std::string_view rest = name.substr(open + 1, name.size() - open - 2);
  for (bool more = true; more;) {
    const size_t bar = rest.find('|');
    std::string_view part = rest.substr(0, bar);
    more = bar != std::string_view::npos;
    rest = more ? rest.substr(bar + 1) : std::string_view{};
    uint64_t phrase = kPhrase;
    while (!part.empty()) {
      const size_t comma = part.find(',');
      phrase = phrase_add(phrase, escaped_hash(part.substr(0, comma)));
      part = comma == std::string_view::npos ? std::string_view{} : part.substr(comma + 1);
    }
    key = key_add(key, phrase);
  }
  return key_end(key);
}

std::shared_ptr<FeatureTable> read_feature_table(const std::string& path, std::set<std::string>& templates) {
  const auto file = MemoryMap::file(path);
  const std::string_view text(reinterpret_cast<const char*>(file->data()), file->size());
  auto table = std::make_shared<FeatureTable>(std::count(text.begin(), text.end(), '\n') + 1);
  std::string last;
  long number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, stop - at));
    at = stop + 1;
    ++number;
    if (line.empty()) continue;
    const size_t blank = line.find(' ');
    double value = 0;
    const char* const end = line.data() + line.size();
    if (blank == std::string_view::npos || std::from_chars(line.data() + blank + 1, end, value).ptr != end ||
        !std::isfinite(value))
      throw input_error(path, number, "is not a name and a finite number. Give it the weights.txt of a run");
    const std::string_view name = line.substr(0, blank);
    table->set(feature_key(name), value);
    if (const std::string_view kind = name.substr(0, name.find('(')); value != 0 && kind != last) {
      if (invalid_utf8(kind) >= 0) throw input_error(path, number, "not UTF-8. Give it the weights.txt of a run");
      templates.insert(last = std::string(kind));
    }
  }
  if (table->size() == 0) throw input_error(path, 0, "no weights in this file. Give it the weights.txt of a run");
  return table;
}

}  // namespace hopefear
