// The columns of a CSV file, chunk by chunk: numbers as numbers, everything else as text.
//
// RFC 4180 with any delimiter: fields in quotes may hold delimiters, line breaks and doubled quotes. The first record is the
// header and is skipped, as are empty lines. Errors are not described here: the caller reads again, slowly, to locate them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hopefear {

class CsvColumns {
 public:
  /// text: which columns are always text. The others become text if their first value is not a number.
  CsvColumns(char delimiter, std::vector<int> text);

  void feed(std::string_view bytes);
  /// Whether the file was well formed, with as many values in every record as there are columns.
  bool finish();

  /// Columns that have a value other than a number after their first row: the file must be read again with these as text.
  const std::vector<int>& late() const { return late_; }
  bool is_text(size_t column) const { return columns_[column].text; }
  std::vector<double> take_numbers(size_t column) { return std::move(columns_[column].numbers); }
  /// Values end to end, and where each ends.
  std::pair<std::string, std::vector<size_t>> take_texts(size_t column) {
    return {std::move(columns_[column].bytes), std::move(columns_[column].ends)};
  }

 private:
  struct Column {
    bool text = false;
    bool late = false;
    std::vector<double> numbers;
    std::string bytes;
    std::vector<size_t> ends;
  };
  struct Field {
    std::string_view value;
    bool quoted, doubled;
  };
  bool record(const char*& at, const char* end, bool last);
  void keep();
  void parse(std::string_view bytes, bool last);

  char delimiter_;
  std::vector<Column> columns_;
  std::vector<int> late_;
  std::vector<Field> fields_;
  std::string rest_;
  size_t records_ = 0;
  bool begun_ = false, bad_ = false;
};

}  // namespace hopefear
