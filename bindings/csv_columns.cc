#include "formats/csv_columns.h"

#include "common.h"

namespace hopefear {
namespace {

/// Python strings; a value equal to the previous one is the same object.
nb::list texts(CsvColumns& columns, size_t j) {
  const auto [bytes, ends] = columns.take_texts(j);
  nb::list strings;
  std::string_view before;
  nb::object text;
  size_t begin = 0;
  for (const size_t end : ends) {
    const std::string_view value(bytes.data() + begin, end - begin);
    if (!text.is_valid() || value != before) {
      text = nb::steal(PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), nullptr));
      if (!text.is_valid()) throw nb::python_error();
      before = value;
    }
    strings.append(text);
    begin = end;
  }
  return strings;
}

}  // namespace

void init_csv_columns(nb::module_& m) {
  nb::class_<CsvColumns>(m, "CsvColumns", "Reads the columns of a CSV file chunk by chunk.")
      .def(nb::init<char, std::vector<int>>(), "delimiter"_a, "text"_a)
      .def(
          "feed",
          [](CsvColumns& self, nb::bytes bytes) {
            const std::string_view view(bytes.c_str(), bytes.size());
            nb::gil_scoped_release release;
            self.feed(view);
          },
          "bytes"_a)
      .def("finish", &CsvColumns::finish, "Whether the file was well formed.")
      .def_prop_ro("late", &CsvColumns::late, "Columns that must be read again as text.")
      .def("is_text", &CsvColumns::is_text, "column"_a)
      .def(
          "numbers", [](CsvColumns& self, size_t j) { return give(self.take_numbers(j)); }, "column"_a, "Once.")
      .def("texts", &texts, "column"_a, nb::sig("def texts(self, column: int) -> list[str]"), "Once.");
}

}  // namespace hopefear
