// A pull parser for JSON text in memory. Keys may repeat (in cdec's forests they do), no document is built, nesting cannot
// overflow the stack. The text must be UTF-8 already.
//
//   json.begin_object();
//   while (json.next_key(key))
//     if (key == "tail") { json.begin_array(); while (json.next_item()) tails.push_back(json.integer("a tail")); }
//     else json.skip();
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hopefear {

class Json {
 public:
  enum class Kind { object, array, string, number, boolean, null, end };

  /// `first_line` is the line number of the text's first line.
  Json(std::string_view text, std::string file, int64_t first_line)
      : text_(text), file_(std::move(file)), first_line_(first_line) {}

  Kind peek();
  void begin_object(const char* what);
  bool next_key(std::string& key);  // false: the object has ended
  void begin_array(const char* what);
  bool next_item();  // false: the array has ended
  /// Valid until the next call.
  std::string_view string(const char* what);
  double number(const char* what);  // finite, or an InputError
  int64_t integer(const char* what);
  /// The characters of a number.
  std::string_view literal(const char* what);
  void skip();
  void skip_null() { word("null"); }
  /// Checks that only blanks remain.
  void end();
  bool at_end() { return peek() == Kind::end; }

  [[noreturn]] void fail(const std::string& finding) const;

 private:
  void blanks();
  void word(std::string_view text);
  void element(char close);
  uint32_t hex();
  uint32_t escaped_code();
  [[noreturn]] void wrong(const char* what, const char* wanted);

  std::string_view text_;
  std::string file_;
  int64_t first_line_;
  size_t at_ = 0;
  bool first_ = false;  // the current container has just been opened
  std::string buffer_;
};

/// Adds a JSON string with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace hopefear
