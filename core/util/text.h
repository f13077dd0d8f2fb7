// Text for the readers: UTF-8 checks, words between ASCII blanks, numbers that survive a round trip.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

namespace hopefear {

/// A stray carriage return counts as a blank. Blanks beyond ASCII (U+00A0) are part of a word.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Calls word(view) for each word.
template <class Word>
void for_each_word(std::string_view text, Word&& word) {
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    while (p < end && is_blank(*p)) ++p;
    if (p == end) return;
    const char* const begin = p;
    while (p < end && !is_blank(*p)) ++p;
    word(std::string_view(begin, p - begin));
  }
}

/// The next field, up to a ||| between blanks; `rest` moves behind it. False if nothing is left.
inline bool next_field(std::string_view& rest, std::string_view& field, bool& more) {
  if (!more) return false;
  const char* const begin = rest.data();
  const char* const end = begin + rest.size();
  for (const char* p = begin; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '|', end - p));
    if (!p) break;
    if (end - p >= 3 && p[1] == '|' && p[2] == '|' && (p == begin || is_blank(p[-1])) && (end - p == 3 || is_blank(p[3]))) {
      field = {begin, static_cast<size_t>(p - begin)};
      rest = {p + 3, static_cast<size_t>(end - p - 3)};
      return true;
    }
  }
  field = rest;
  rest = {};
  more = false;
  return true;
}

/// The offset of the first byte that is not UTF-8 (RFC 3629: no surrogates, no overlong forms), or -1.
inline int64_t invalid_utf8(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  const size_t n = text.size();
  size_t i = 0;
  while (i < n) {
    uint64_t block;
    if (i + 8 <= n && (std::memcpy(&block, s + i, 8), (block & 0x8080808080808080ULL) == 0)) {
      i += 8;
      continue;
    }
    const unsigned char c = s[i];
    if (c < 0x80) {
      ++i;
      continue;
    }
    const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
    if (length == 0 || i + length > n) return static_cast<int64_t>(i);
    for (size_t k = 1; k < length; ++k)
      if ((s[i + k] & 0xc0) != 0x80) return static_cast<int64_t>(i);
    if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] > 0x9f) || (c == 0xf0 && s[i + 1] < 0x90) ||
        (c == 0xf4 && s[i + 1] > 0x8f))
      return static_cast<int64_t>(i);
    i += length;
  }
  return -1;
}

enum class Number { good, not_a_number, not_finite };

/// A whole token as a double. Underflow is 0 or a denormal; overflow, inf and nan are not_finite.
inline Number parse_number(std::string_view token, double& value) {
  const char* begin = token.data();
  const char* const end = begin + token.size();
  if (begin != end && *begin == '+' && end - begin > 1 && begin[1] != '-') ++begin;
  auto [p, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range && p == end) {
    // Underflow or overflow? strtod tells; in a locale with decimal commas it would stop too early.
    const std::string copy(begin, end);
    char* stopped = nullptr;
    value = std::strtod(copy.c_str(), &stopped);
    if (stopped != copy.c_str() + copy.size()) return Number::not_a_number;
    return std::isfinite(value) ? Number::good : Number::not_finite;
  }
  if (error != std::errc() || p != end) return Number::not_a_number;
  return std::isfinite(value) ? Number::good : Number::not_finite;
}

/// The shortest digits that read back as the same double.
inline void append_number(std::string& out, double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

/// For messages: one line, at most `limit` bytes, always UTF-8, control characters visible.
inline std::string quoted(std::string_view text, size_t limit = 40) {
  std::string out = "\"";
  size_t length = text.size();
  if (length > limit) {
    length = limit;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  }
  const bool bad = invalid_utf8(text.substr(0, length)) >= 0;
  for (const char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (bad && byte >= 0x80)) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(byte));
      out += hex;
    } else {
      out += c;
    }
  }
  return out + (length < text.size() ? "...\"" : "\"");
}

}  // namespace hopefear
