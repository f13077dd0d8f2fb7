#include "formats/forest_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "formats/forest_layout.h"
#include "util/text.h"

static_assert(std::endian::native == std::endian::little, "the native file is used in place");

namespace hopefear {
namespace {

class Reader {
 public:
  Reader(const char* bytes, size_t size, const std::string& file, bool verify) : bytes_(bytes), size_(size), file_(file) {
    if (size < sizeof(Header)) fail("the file is shorter than its header. Was it cut off?");
    std::memcpy(&header_, bytes, sizeof header_);
    if (std::memcmp(header_.magic, kForestMagic, 16) != 0)
      fail("this is not a file of forests, or it was changed like text. Copy it as binary");
    if (header_.version != kVersion)
      fail("the file has version " + std::to_string(header_.version) + " of the format, this program reads " +
           std::to_string(kVersion) + ". Install another version of hopefear");
    if (header_.checksum != Checksum::of(&header_, 56)) fail("the header is damaged. Copy or make the file again");
    if (header_.file_size != size)
      fail("the file has " + std::to_string(size) + " bytes and should have " + std::to_string(header_.file_size) +
           ". Was it cut off? Copy it again");
    if (header_.section_count != kSections || size < sizeof(Header) + kSections * sizeof(Section))
      fail("the table of sections is damaged. Copy or make the file again");
    std::memcpy(sections_, bytes + sizeof(Header), sizeof sections_);
    if (header_.table_checksum != Checksum::of(sections_, sizeof sections_))
      fail("the table of sections is damaged. Copy or make the file again");
    uint64_t place = sizeof(Header) + sizeof sections_;
    for (uint32_t k = 0; k < kSections; ++k) {
      const Section& s = sections_[k];
      if (s.kind != k + 1 || s.element_size != kElement[k + 1] || s.offset % kAlign || s.offset < place ||
          s.offset - place >= kAlign || s.offset > size || s.bytes > size - s.offset || s.bytes % s.element_size)
        fail("the table of sections is damaged. Copy or make the file again");
      for (; place < s.offset; ++place)
        if (bytes[place])
          fail(std::string("the bytes before the section ") + kName[k + 1] + " are damaged. Copy or make the file again");
      if (verify && s.checksum != Checksum::of(bytes + s.offset, s.bytes))
        fail(std::string("the section ") + kName[k + 1] + " is damaged. Copy or make the file again");
      place = s.offset + s.bytes;
    }
    if (place != size) fail("something follows the last section. Copy or make the file again");
    if (header_.dense_width > 0x7fffffff || header_.number_width > 0x7fffffff) damaged("header");
  }

  Pool pool(std::shared_ptr<const void> owner) const {
    Pool out;
    std::vector<std::string> ids, sources;
    names(out, ids, sources);
    const uint64_t count = header_.sentences;
    const Arrays arrays(*this, count);
    check_references(arrays, out.vocab->size());
    out.sentences.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t *begin = arrays.lines.data() + i * kColumns, *end = begin + kColumns;
      Sentence s{std::move(ids[i]), std::move(sources[i]), forest(arrays, i, begin, end), {}};
      s.forest.vocab = out.vocab;
      s.forest.features = out.features;
      s.forest.owner = owner;
      validate(s.forest, file_ + ": sentence " + std::to_string(i));
      for (uint64_t r = begin[c_references]; r < end[c_references]; ++r)
        s.references.emplace_back(arrays.references.begin() + static_cast<ptrdiff_t>(arrays.reference_ends[r]),
                                  arrays.references.begin() + static_cast<ptrdiff_t>(arrays.reference_ends[r + 1]));
      out.sentences.push_back(std::move(s));
    }
    return out;
  }

 private:
  /// The sections of all sentences, and the index of where each sentence begins in them.
  struct Arrays {
    std::span<const uint64_t> lines, reference_ends;
    std::span<const int32_t> edge_begin, tail_begin, tails, word_begin, words, spans, sparse_begin, sparse_ids, references;
    std::span<const double> dense, sparse_values, numbers;

    Arrays(const Reader& r, uint64_t count) : lines(r.array<uint64_t>(index)) {
      if (lines.size() % kColumns || lines.size() / kColumns != count + 1) r.damaged("index");
      for (size_t k = 0; k < lines.size(); ++k)
        if (k < kColumns ? lines[k] != 0 : lines[k] < lines[k - kColumns] || lines[k] - lines[k - kColumns] > 0x7ffffffe)
          r.damaged("index");
      const uint64_t* last = lines.data() + count * kColumns;
      edge_begin = r.sized<int32_t>(Kind::edge_begin, last[c_nodes] + count);
      tail_begin = r.sized<int32_t>(Kind::tail_begin, last[c_edges] + count);
      tails = r.sized<int32_t>(Kind::tails, last[c_tails]);
      word_begin = r.sized<int32_t>(Kind::word_begin, last[c_edges] + count);
      words = r.sized<int32_t>(Kind::words, last[c_words]);
      spans = r.sized<int32_t>(Kind::spans, last[c_spans]);
      dense = r.sized<double>(Kind::dense, r.product(last[c_edges], r.header_.dense_width));
      sparse_begin = r.sized<int32_t>(Kind::sparse_begin, last[c_sparse_begin]);
      sparse_ids = r.sized<int32_t>(Kind::sparse_ids, last[c_sparse]);
      sparse_values = r.sized<double>(Kind::sparse_values, last[c_sparse]);
      numbers = r.sized<double>(Kind::numbers, r.product(last[c_edges], r.header_.number_width));
      reference_ends = r.sized<uint64_t>(Kind::reference_ends, last[c_references] + 1);
      references = r.array<int32_t>(Kind::reference_words);
    }
  };

  /// The names of words, features and numbers; the ids and sources of sentences.
  void names(Pool& out, std::vector<std::string>& ids, std::vector<std::string>& sources) const {
    strings(word_ends, [&](std::string_view text) { out.vocab->add(text); });
    strings(feature_ends, [&](std::string_view text) { out.features->add(text); });
    if (static_cast<size_t>(out.vocab->size()) + 1 != array<uint64_t>(word_ends).size()) damaged("words' text");
    if (static_cast<size_t>(out.features->size()) + 1 != array<uint64_t>(feature_ends).size()) damaged("features' text");
    strings(number_ends, [&](std::string_view text) { out.number_names.emplace_back(text); });
    out.dense_width = static_cast<int32_t>(header_.dense_width);
    if (out.number_names.size() != header_.number_width) damaged("numbers' text");
    strings(id_ends, [&](std::string_view text) { ids.emplace_back(text); });
    strings(source_ends, [&](std::string_view text) { sources.emplace_back(text); });
    if (ids.size() != header_.sentences) damaged("ids' text");
    if (sources.size() != header_.sentences) damaged("sources' text");
  }

  void check_references(const Arrays& arrays, int32_t vocabulary) const {
    const auto ends = arrays.reference_ends;
    if (ends[0] != 0 || ends.back() != arrays.references.size()) damaged("reference ends");
    for (size_t r = 0; r + 1 < ends.size(); ++r)
      if (ends[r] > ends[r + 1]) damaged("reference ends");
    for (const int32_t word : arrays.references)
      if (word < 0 || word >= vocabulary) damaged("reference words");
  }

  /// Sentence i, between two lines of the index.
  Forest forest(const Arrays& all, size_t i, const uint64_t* a, const uint64_t* b) const {
    Forest f;
    const uint64_t edges = b[c_edges] - a[c_edges];
    f.edge_begin = all.edge_begin.subspan(a[c_nodes] + i, b[c_nodes] - a[c_nodes] + 1);
    f.tail_begin = all.tail_begin.subspan(a[c_edges] + i, edges + 1);
    f.tails = all.tails.subspan(a[c_tails], b[c_tails] - a[c_tails]);
    f.word_begin = all.word_begin.subspan(a[c_edges] + i, edges + 1);
    f.words = all.words.subspan(a[c_words], b[c_words] - a[c_words]);
    f.spans = all.spans.subspan(a[c_spans], b[c_spans] - a[c_spans]);
    f.dense_width = static_cast<int32_t>(header_.dense_width);
    f.number_width = static_cast<int32_t>(header_.number_width);
    f.dense = all.dense.subspan(a[c_edges] * header_.dense_width, edges * header_.dense_width);
    f.numbers = all.numbers.subspan(a[c_edges] * header_.number_width, edges * header_.number_width);
    f.sparse_begin = all.sparse_begin.subspan(a[c_sparse_begin], b[c_sparse_begin] - a[c_sparse_begin]);
    f.sparse_ids = all.sparse_ids.subspan(a[c_sparse], b[c_sparse] - a[c_sparse]);
    f.sparse_values = all.sparse_values.subspan(a[c_sparse], b[c_sparse] - a[c_sparse]);
    return f;
  }

  [[noreturn]] void fail(const std::string& finding) const { throw input_error(file_, 0, finding); }
  [[noreturn]] void damaged(const char* section) const {
    fail(std::string("the section ") + section + " is damaged. Copy or make the file again");
  }
  uint64_t product(uint64_t a, uint64_t b) const {
    if (b != 0 && a > size_ / b) damaged("index");
    return a * b;
  }
  template <class T>
  std::span<const T> array(uint32_t kind) const {
    const Section& s = sections_[kind - 1];
    return {reinterpret_cast<const T*>(bytes_ + s.offset), static_cast<size_t>(s.bytes / sizeof(T))};
  }
  template <class T>
  std::span<const T> sized(uint32_t kind, uint64_t count) const {
    const auto values = array<T>(kind);
    if (values.size() != count) damaged(kName[kind]);
    return values;
  }
  template <class Text>
  void strings(uint32_t kind, Text&& text) const {
    const auto ends = array<uint64_t>(kind);
    const auto bytes = array<char>(kind + 1);
    if (ends.empty() || ends[0] != 0 || ends.back() != bytes.size()) damaged(kName[kind]);
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      if (ends[i] > ends[i + 1]) damaged(kName[kind]);
      const std::string_view one(bytes.data() + ends[i], ends[i + 1] - ends[i]);
      if (invalid_utf8(one) >= 0) damaged(kName[kind + 1]);
      text(one);
    }
  }

  const char* bytes_;
  size_t size_;
  const std::string& file_;
  Header header_{};
  Section sections_[kSections];
};

struct Map {
  void* bytes = nullptr;
  size_t size = 0;
  ~Map() {
    if (bytes) ::munmap(bytes, size);
  }
};

}  // namespace

Pool forest_file_pool(const char* bytes, size_t size, std::shared_ptr<const void> owner, const std::string& file, bool verify) {
  return Reader(bytes, size, file, verify).pool(std::move(owner));
}

Pool read_forest_file(const std::string& path, const std::string& file, bool verify) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  auto failed = [&] {
    return input_error(file, 0, std::string("could not be mapped (") + std::strerror(errno) + "). Check the path");
  };
  if (descriptor < 0) throw failed();
  struct stat about;
  auto map = std::make_shared<Map>();
  if (::fstat(descriptor, &about) == 0 && about.st_size > 0) {
    map->size = about.st_size;
    void* const bytes = ::mmap(nullptr, map->size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (bytes != MAP_FAILED) map->bytes = bytes;
  }
  const auto error = failed();
  ::close(descriptor);
  if (!map->bytes) throw error;
  return forest_file_pool(static_cast<const char*>(map->bytes), map->size, map, file, verify);
}

}  // namespace hopefear
