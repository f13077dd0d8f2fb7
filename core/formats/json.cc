#include "formats/json.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "util/error.h"
#include "util/text.h"

namespace hopefear {

void Json::fail(const std::string& finding) const {
  const auto line =
      first_line_ + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(std::min(at_, text_.size())), '\n');
  throw input_error(file_, line, finding);
}

void Json::wrong(const char* what, const char* wanted) {
  if (peek() == Kind::end) fail("the JSON text ends too soon. Was the file cut off?");
  fail(std::string(what) + " must be " + wanted + ", found " + quoted(text_.substr(at_), 20) + ". See docs/formats.md");
}

void Json::blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

Json::Kind Json::peek() {
  blanks();
  if (at_ >= text_.size()) return Kind::end;
  switch (text_[at_]) {
    case '{': return Kind::object;
    case '[': return Kind::array;
    case '"': return Kind::string;
    case 't':
    case 'f': return Kind::boolean;
    case 'n': return text_.substr(at_, 4) == "null" ? Kind::null : Kind::number;  // nan
    default: return Kind::number;
  }
}

void Json::begin_object(const char* what) {
  if (peek() != Kind::object) wrong(what, "an object {...}");
  ++at_;
  first_ = true;
}

void Json::begin_array(const char* what) {
  if (peek() != Kind::array) wrong(what, "an array [...]");
  ++at_;
  first_ = true;
}

/// Skips the comma before an element; does not move at `close`.
void Json::element(char close) {
  blanks();
  if (at_ < text_.size() && text_[at_] == close) return;
  if (first_) {
    first_ = false;
    return;
  }
  if (at_ >= text_.size()) fail("the JSON text ends too soon. Was the file cut off?");
  if (text_[at_] != ',') fail("expected a comma before " + quoted(text_.substr(at_), 20) + ". Is this JSON?");
  ++at_;
  blanks();
}

bool Json::next_key(std::string& key) {
  element('}');
  if (at_ < text_.size() && text_[at_] == '}') {
    ++at_;
    first_ = false;
    return false;
  }
  key = string("a key");
  blanks();
  if (at_ >= text_.size() || text_[at_] != ':') fail("expected a colon after the key " + quoted(key) + ". Was the file cut off?");
  ++at_;
  return true;
}

bool Json::next_item() {
  element(']');
  if (at_ >= text_.size()) fail("the JSON text ends too soon. Was the file cut off?");
  if (text_[at_] == ']') {
    ++at_;
    first_ = false;
    return false;
  }
  return true;
}

/// The four hexadecimal digits of a \u escape.
uint32_t Json::hex() {
  uint32_t code = 0;
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || p != digits.data() + 4) fail("bad \\u escape in a string. Write four hexadecimal digits");
  at_ += 4;
  return code;
}

/// The character of a \u escape, or of a surrogate pair of escapes.
uint32_t Json::escaped_code() {
  uint32_t code = hex();
  if (code >= 0xd800 && code < 0xdc00 && text_.substr(std::min(at_, text_.size()), 2) == "\\u") {
    at_ += 2;
    const uint32_t low = hex();
    if (low < 0xdc00 || low > 0xdfff) fail("half a surrogate pair in a string. Write the character itself");
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code < 0xe000) fail("half a surrogate pair in a string. Write the character itself");
  return code;
}

static void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string_view Json::string(const char* what) {
  if (peek() != Kind::string) wrong(what, "a string");
  const size_t begin = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
  if (at_ < text_.size() && text_[at_] == '"') return text_.substr(begin, at_++ - begin);
  buffer_.assign(text_.substr(begin, at_ - begin));
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      buffer_ += text_[at_++];
      continue;
    }
    if (++at_ >= text_.size()) break;
    const char c = text_[at_++];
    switch (c) {
      case 'n': buffer_ += '\n'; break;
      case 't': buffer_ += '\t'; break;
      case 'r': buffer_ += '\r'; break;
      case 'b': buffer_ += '\b'; break;
      case 'f': buffer_ += '\f'; break;
      case '"':
      case '\\':
      case '\'':
      case '/': buffer_ += c; break;
      case 'u': append_utf8(buffer_, escaped_code()); break;
      default: --at_; fail("bad escape before " + quoted(text_.substr(at_), 20) + " in a string. Write \\\\ for a backslash");
    }
  }
  if (at_ >= text_.size()) fail("a string has no end. Was the file cut off?");
  ++at_;
  return buffer_;
}

std::string_view Json::literal(const char* what) {
  if (peek() != Kind::number) wrong(what, "a number");
  const size_t begin = at_;
  while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}' &&
         text_[at_] != ':')
    ++at_;
  return text_.substr(begin, at_ - begin);
}

double Json::number(const char* what) {
  const std::string_view token = literal(what);
  double value = 0;
  Number found = parse_number(token, value);
  if (token == "Infinity" || token == "-Infinity") found = Number::not_finite;
  if (found == Number::not_finite) fail(std::string(what) + " is " + quoted(token) + ". Replace it by a finite number");
  if (found == Number::not_a_number)
    fail(std::string(what) + " must be a number, found " + quoted(token) + ". See docs/formats.md");
  return value;
}

int64_t Json::integer(const char* what) {
  const std::string_view token = literal(what);
  int64_t value = 0;
  const auto [p, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || p != token.data() + token.size())
    fail(std::string(what) + " must be a whole number, found " + quoted(token) + ". See docs/formats.md");
  return value;
}

void Json::word(std::string_view text) {
  blanks();
  if (text_.substr(at_, text.size()) != text)
    fail("expected " + std::string(text) + ", found " + quoted(text_.substr(at_), 20) + ". Is this JSON?");
  at_ += text.size();
}

void Json::skip() {
  std::string open;  // the brackets that are open here
  for (;;) {
    const Kind kind = peek();
    if (kind == Kind::end) fail("the JSON text ends too soon. Was the file cut off?");
    if (kind == Kind::object || kind == Kind::array) {
      open += text_[at_++] == '{' ? '}' : ']';
      first_ = true;
    } else if (kind == Kind::string) {
      string("a string");
    } else if (kind == Kind::boolean) {
      word(text_[at_] == 't' ? "true" : "false");
    } else if (kind == Kind::null) {
      word("null");
    } else if (double value; parse_number(literal("a value"), value) == Number::not_a_number) {
      fail("expected a value. Is this JSON?");
    }
    // after a value: close what ends here, or move to the next element
    while (!open.empty()) {
      element(open.back());
      if (at_ < text_.size() && text_[at_] == open.back()) {
        ++at_;
        first_ = false;
        open.pop_back();
        continue;
      }
      if (open.back() == '}') {
        string("a key");
        word(":");
      }
      break;
    }
    if (open.empty()) return;
  }
}

void Json::end() {
  if (peek() != Kind::end)
    fail("something follows the JSON value: " + quoted(text_.substr(at_), 20) + ". Write one value a line");
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace hopefear
