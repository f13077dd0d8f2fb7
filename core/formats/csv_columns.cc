#include "formats/csv_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace hopefear {
namespace {

bool is_word(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

/// The value of a text as a number; NaN if the text marks a missing value.
bool number_of(std::string_view text, double& value) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  value = std::numeric_limits<double>::quiet_NaN();
  if (text.empty()) return true;
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (end == digits.data() + digits.size() && error != std::errc::invalid_argument) {
    value = error == std::errc() ? number : std::strtod(std::string(digits).c_str(), nullptr);
    return true;
  }
  constexpr std::array<std::string_view, 4> kMissing{"na", "n/a", "null", "none"};
  if (std::any_of(kMissing.begin(), kMissing.end(), [&](std::string_view word) { return is_word(text, word); })) return true;
  if (is_word(text, "true") || is_word(text, "false")) {
    value = text.size() == 4 ? 1 : 0;
    return true;
  }
  return false;
}

}  // namespace

CsvColumns::CsvColumns(char delimiter, std::vector<int> text) : delimiter_(delimiter), columns_(text.size()) {
  for (size_t j = 0; j < text.size(); ++j) columns_[j].text = text[j] != 0;
}

/// Reads the fields of one record; false if it is incomplete or malformed.
bool CsvColumns::record(const char*& at, const char* end, bool last) {
  fields_.clear();
  for (const char* p = at;;) {
    Field field{{}, p != end && *p == '"', false};
    if (field.quoted) {
      const char* q = p + 1;
      for (;; q += 2) {
        q = static_cast<const char*>(std::memchr(q, '"', static_cast<size_t>(end - q)));
        if (!q) {
          bad_ = last;
          return false;
        }
        if (q + 1 == end && !last) return false;
        if (q + 1 == end || q[1] != '"') break;
        field.doubled = true;
      }
      field.value = {p + 1, static_cast<size_t>(q - p - 1)};
      p = q + 1;
      if (p != end && *p == '\r') {
        if (p + 1 == end && !last) return false;
        if (p + 1 == end || p[1] == '\n') ++p;
      }
    } else {
      const char* q = p;
      while (q != end && *q != delimiter_ && *q != '\n') ++q;
      if (q == end && !last) return false;
      const bool line = q == end || *q == '\n';
      field.value = {p, static_cast<size_t>(q - p - (line && q != p && q[-1] == '\r' ? 1 : 0))};
      p = q;
    }
    fields_.push_back(field);
    if (p == end || *p == '\n') {
      at = p == end ? end : p + 1;
      return true;
    }
    if (*p != delimiter_) {
      bad_ = true;
      return false;
    }
    ++p;
    if (p == end && !last) return false;
  }
}

/// Appends the fields of a record to the columns.
void CsvColumns::keep() {
  if (fields_.size() == 1 && fields_[0].value.empty() && !fields_[0].quoted) return;  // an empty line
  if (fields_.size() != columns_.size()) {
    bad_ = true;
    return;
  }
  if (records_++ == 0) return;  // the header
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const Field& field = fields_[j];
    if (!column.text) {
      double value = 0;
      const bool number = number_of(field.value, value);
      column.text = !number && records_ == 2;
      if (!column.text) {
        column.numbers.push_back(value);
        if (!number && !column.late) {
          column.late = true;
          late_.push_back(static_cast<int>(j));
        }
        continue;
      }
    }
    if (field.doubled)
      for (size_t k = 0; k < field.value.size(); ++k) {
        column.bytes.push_back(field.value[k]);
        if (field.value[k] == '"') ++k;
      }
    else
      column.bytes += field.value;
    column.ends.push_back(column.bytes.size());
  }
}

void CsvColumns::parse(std::string_view bytes, bool last) {
  const char *at = bytes.data(), *end = at + bytes.size();
  while (!bad_ && at != end && record(at, end, last)) keep();
  if (!bad_) rest_.assign(at, end);
}

void CsvColumns::feed(std::string_view bytes) {
  if (bad_) return;
  if (!begun_ && bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  begun_ = begun_ || !bytes.empty();
  if (rest_.empty()) return parse(bytes, false);
  std::string both = std::move(rest_);
  both += bytes;
  parse(both, false);
}

bool CsvColumns::finish() {
  if (!rest_.empty() && !bad_) {
    const std::string left = std::move(rest_);
    parse(left, true);
  }
  return !bad_;
}

}  // namespace hopefear
