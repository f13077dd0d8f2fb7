// The lines of a text file that arrives in chunks of any size: checks UTF-8 and drops a byte order mark.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "util/error.h"
#include "util/text.h"

namespace hopefear {

class Lines {
 public:
  /// `before`: how many lines of the file were read elsewhere.
  void begin_file(std::string name, int64_t before = 0) {
    file_ = std::move(name);
    number_ = before;
    rest_.clear();
  }
  template <class Line>
  void feed(std::string_view bytes, Line&& line) {
    while (!bytes.empty()) {
      const void* const found = std::memchr(bytes.data(), '\n', bytes.size());
      if (!found) {
        rest_ += bytes;
        return;
      }
      const size_t length = static_cast<const char*>(found) - bytes.data();
      if (rest_.empty()) {
        line(checked(bytes.substr(0, length)));
      } else {
        rest_ += bytes.substr(0, length);
        line(checked(rest_));
        rest_.clear();
      }
      bytes.remove_prefix(length + 1);
    }
  }
  /// The last line, if no line end follows it.
  template <class Line>
  void end_file(Line&& line) {
    if (!rest_.empty()) line(checked(rest_));
    rest_.clear();
  }

  const std::string& file() const { return file_; }
  int64_t number() const { return number_; }  // of the current line, from 1
  [[noreturn]] void fail(const std::string& finding) const { throw input_error(file_, number_, finding); }

 private:
  std::string_view checked(std::string_view text) {
    if (number_++ == 0 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (const int64_t at = invalid_utf8(text); at >= 0)
      fail("byte " + std::to_string(at + 1) + " is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8");
    return text;
  }

  std::string file_;
  int64_t number_ = 0;
  std::string rest_;  // the beginning of an incomplete line
};

}  // namespace hopefear
