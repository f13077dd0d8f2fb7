// UTF-8 for metrics on characters: characters and white space as in Python's str.
#pragma once
#include <cstdint>
#include <string_view>

namespace hopefear {

/// The character that starts at text[i]; i moves behind it. A byte that is not UTF-8 is its own code, above all characters.
inline uint32_t next_character(std::string_view text, size_t& i) {
  const auto byte = [&](size_t k) { return static_cast<uint32_t>(static_cast<unsigned char>(text[k])); };
  const uint32_t first = byte(i);
  if (first < 0x80) return ++i, first;
  const int more = first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
  if (more == 0 || first >= 0xf5 || i + more >= text.size()) return ++i, 0x110000 + first;
  uint32_t character = first & (0x3fu >> more);
  for (int k = 1; k <= more; ++k) {
    if ((byte(i + k) & 0xc0) != 0x80) return ++i, 0x110000 + first;
    character = character << 6 | (byte(i + k) & 0x3f);
  }
  i += more + 1;
  return character;
}

/// Whether str.split() splits at this character.
inline bool is_space(uint32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

/// each(word) for the words of str.split().
template <class Each>
void split_words(std::string_view text, Each&& each) {
  size_t begin = 0, i = 0;
  while (i < text.size()) {
    const size_t at = i;
    if (!is_space(next_character(text, i))) continue;
    if (at > begin) each(text.substr(begin, at - begin));
    begin = i;
  }
  if (begin < text.size()) each(text.substr(begin));
}

}  // namespace hopefear
