#include "forest_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

#include "text.h"

static_assert(std::endian::native == std::endian::little, "the native file is used in place");

namespace hopefear {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kAlign = 64;

/// Four lanes of 64 bits. Each step is a bijection of the word it takes in, so damage to one word never goes unseen.
class Checksum {
 public:
  void update(const void* data, size_t size) {
    if (size == 0) return;
    const auto* p = static_cast<const unsigned char*>(data);
    total_ += size;
    if (held_ > 0) {
      const size_t take = std::min(size, block_.size() - held_);
      std::memcpy(block_.data() + held_, p, take);
      held_ += take;
      p += take;
      size -= take;
      if (held_ < block_.size()) return;
      step(block_.data());
      held_ = 0;
    }
    for (; size >= block_.size(); size -= block_.size(), p += block_.size()) step(p);
    std::memcpy(block_.data(), p, size);
    held_ = size;
  }
  uint64_t value() {
    if (held_ > 0) {
      std::memset(block_.data() + held_, 0, block_.size() - held_);
      step(block_.data());
    }
    uint64_t h = mix(total_ + 0x9e3779b97f4a7c15ULL);
    for (const uint64_t lane : lanes_) h = mix(h ^ mix(lane));
    return h;
  }
  static uint64_t of(const void* data, size_t size) {
    Checksum c;
    c.update(data, size);
    return c.value();
  }

 private:
  void step(const unsigned char* p) {
    for (size_t k = 0; k < 4; ++k) {
      uint64_t word;
      std::memcpy(&word, p + 8 * k, 8);
      lanes_[k] = std::rotl(lanes_[k] ^ (word * 0x9fb21c651e98df25ULL), 29) * 0xff51afd7ed558ccdULL + 0x52dce729;
    }
  }
  static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 32);
  }
  std::array<uint64_t, 4> lanes_{1, 2, 3, 4};
  std::array<unsigned char, 32> block_{};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

struct Header {
  char magic[16];
  uint32_t version, section_count;
  uint64_t file_size;
  uint64_t table_checksum;
  uint32_t dense_width, number_width;
  uint64_t sentences;
  uint64_t checksum;  // of the 56 bytes before
};
static_assert(sizeof(Header) == 64);

struct Section {
  uint32_t kind, element_size;
  uint64_t offset, bytes;
  uint64_t checksum;
};
static_assert(sizeof(Section) == 32);

enum Kind : uint32_t {
  word_ends = 1,
  word_text,
  feature_ends,
  feature_text,
  number_ends,
  number_text,
  id_ends,
  id_text,
  source_ends,
  source_text,
  index,
  edge_begin,
  tail_begin,
  tails,
  word_begin,
  words,
  spans,
  dense,
  sparse_begin,
  sparse_ids,
  sparse_values,
  numbers,
  reference_ends,
  reference_words,
  kinds_end
};
constexpr uint32_t kSections = kinds_end - 1;
constexpr uint32_t kElement[kinds_end] = {0, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 4, 4, 4, 4, 4, 4, 8, 4, 4, 8, 8, 8, 4};
constexpr const char* kName[kinds_end] = {"",
                                          "word ends",
                                          "words' text",
                                          "feature ends",
                                          "features' text",
                                          "number ends",
                                          "numbers' text",
                                          "id ends",
                                          "ids' text",
                                          "source ends",
                                          "sources' text",
                                          "index",
                                          "edge_begin",
                                          "tail_begin",
                                          "tails",
                                          "word_begin",
                                          "words",
                                          "spans",
                                          "dense",
                                          "sparse_begin",
                                          "sparse_ids",
                                          "sparse_values",
                                          "numbers",
                                          "reference ends",
                                          "reference words"};

/// One line of the index, and one more at the end: how much of each array came before the sentence. The offset arrays have
/// one number more than nodes or edges for each sentence, so edge_begin starts at nodes + i, tail_begin and word_begin at edges + i.
enum Column { c_nodes, c_edges, c_tails, c_words, c_spans, c_sparse_begin, c_sparse, c_references, kColumns };

class Writer {
 public:
  Writer(int descriptor, const std::string& file) : descriptor_(descriptor), file_(file) {}

  void begin(uint32_t kind) {
    static constexpr char zeros[kAlign] = {};
    put(zeros, (kAlign - place_ % kAlign) % kAlign);
    sections_.push_back({kind, kElement[kind], place_, 0, 0});
    checksum_ = {};
  }
  template <class T>
  void add(std::span<const T> values) {
    const size_t size = values.size_bytes();
    checksum_.update(values.data(), size);
    put(reinterpret_cast<const char*>(values.data()), size);
    sections_.back().bytes += size;
  }
  void end() { sections_.back().checksum = checksum_.value(); }

  void flush() {
    write_at(buffer_.data(), buffer_.size(), flushed_);
    flushed_ += buffer_.size();
    buffer_.clear();
  }
  void start(uint64_t at) { place_ = flushed_ = at; }
  void finish(const Pool& pool) {
    flush();
    Header header{};
    std::memcpy(header.magic, kForestMagic, 16);
    header.version = kVersion;
    header.section_count = static_cast<uint32_t>(sections_.size());
    header.file_size = place_;
    header.table_checksum = Checksum::of(sections_.data(), sections_.size() * sizeof(Section));
    header.dense_width = static_cast<uint32_t>(pool.dense_width);
    header.number_width = static_cast<uint32_t>(pool.number_names.size());
    header.sentences = pool.size();
    header.checksum = Checksum::of(&header, 56);
    write_at(reinterpret_cast<const char*>(&header), sizeof header, 0);
    write_at(reinterpret_cast<const char*>(sections_.data()), sections_.size() * sizeof(Section), sizeof header);
  }

 private:
  void put(const char* data, size_t size) {
    if (size == 0) return;
    place_ += size;
    if (size < (size_t{1} << 16)) {
      buffer_.append(data, size);
      if (buffer_.size() >= size_t{1} << 20) flush();
      return;
    }
    flush();
    write_at(data, size, flushed_);
    flushed_ += size;
  }
  void write_at(const char* data, size_t size, uint64_t at) {
    while (size > 0) {
      const ssize_t done = ::pwrite(descriptor_, data, size, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0)
        throw input_error(
            file_, 0,
            std::string("could not be written (") + std::strerror(errno) + "). Name an ordinary file on a disk with room");
      data += done;
      at += static_cast<uint64_t>(done);
      size -= static_cast<size_t>(done);
    }
  }

  int descriptor_;
  const std::string& file_;
  std::string buffer_;
  uint64_t place_ = 0, flushed_ = 0;
  std::vector<Section> sections_;
  Checksum checksum_;
};

/// Ends of the strings, and their bytes after one another.
template <class Text>
void write_strings(Writer& writer, uint32_t kind, size_t count, Text&& text) {
  std::vector<uint64_t> ends{0};
  ends.reserve(count + 1);
  for (size_t i = 0; i < count; ++i) ends.push_back(ends.back() + text(i).size());
  writer.begin(kind);
  writer.add(std::span<const uint64_t>(ends));
  writer.end();
  writer.begin(kind + 1);
  for (size_t i = 0; i < count; ++i) writer.add(std::span<const char>(text(i).data(), text(i).size()));
  writer.end();
}

template <class Array>
void write_arrays(Writer& writer, uint32_t kind, const Pool& pool, Array&& array) {
  writer.begin(kind);
  for (const Sentence& s : pool.sentences) writer.add(array(s.forest));
  writer.end();
}

}  // namespace

void write_forest_file(const Pool& pool, int descriptor, const std::string& file) {
  for (size_t i = 0; i < pool.size(); ++i) {
    const Forest& f = pool.sentences[i].forest;
    if (f.vocab != pool.vocab || f.features != pool.features || f.dense_width != pool.dense_width ||
        f.number_width != static_cast<int32_t>(pool.number_names.size()))
      throw input_error(
          file, 0, "sentence " + std::to_string(i) + " does not share the vocabularies of its pool. Make the pool with append");
  }
  Writer writer(descriptor, file);
  writer.start(sizeof(Header) + kSections * sizeof(Section));
  auto vocab = [](const Vocab& v) { return [&v](size_t i) -> const std::string& { return v[static_cast<int32_t>(i)]; }; };
  write_strings(writer, word_ends, static_cast<size_t>(pool.vocab->size()), vocab(*pool.vocab));
  write_strings(writer, feature_ends, static_cast<size_t>(pool.features->size()), vocab(*pool.features));
  write_strings(writer, number_ends, pool.number_names.size(),
                [&](size_t i) -> const std::string& { return pool.number_names[i]; });
  write_strings(writer, id_ends, pool.size(), [&](size_t i) -> const std::string& { return pool.sentences[i].id; });
  write_strings(writer, source_ends, pool.size(), [&](size_t i) -> const std::string& { return pool.sentences[i].source; });

  std::vector<uint64_t> lines(kColumns, 0), ends{0};
  lines.reserve((pool.size() + 1) * kColumns);
  for (const Sentence& s : pool.sentences) {
    const Forest& f = s.forest;
    const uint64_t more[kColumns] = {static_cast<uint64_t>(f.nodes()),
                                     static_cast<uint64_t>(f.edges()),
                                     f.tails.size(),
                                     f.words.size(),
                                     f.spans.size(),
                                     f.sparse_begin.size(),
                                     f.sparse_ids.size(),
                                     s.references.size()};
    for (const uint64_t m : more) lines.push_back(lines[lines.size() - kColumns] + m);
    for (const auto& reference : s.references) ends.push_back(ends.back() + reference.size());
  }
  writer.begin(index);
  writer.add(std::span<const uint64_t>(lines));
  writer.end();
  write_arrays(writer, edge_begin, pool, [](const Forest& f) { return f.edge_begin; });
  write_arrays(writer, tail_begin, pool, [](const Forest& f) { return f.tail_begin; });
  write_arrays(writer, tails, pool, [](const Forest& f) { return f.tails; });
  write_arrays(writer, word_begin, pool, [](const Forest& f) { return f.word_begin; });
  write_arrays(writer, words, pool, [](const Forest& f) { return f.words; });
  write_arrays(writer, spans, pool, [](const Forest& f) { return f.spans; });
  write_arrays(writer, dense, pool, [](const Forest& f) { return f.dense; });
  write_arrays(writer, sparse_begin, pool, [](const Forest& f) { return f.sparse_begin; });
  write_arrays(writer, sparse_ids, pool, [](const Forest& f) { return f.sparse_ids; });
  write_arrays(writer, sparse_values, pool, [](const Forest& f) { return f.sparse_values; });
  write_arrays(writer, numbers, pool, [](const Forest& f) { return f.numbers; });
  writer.begin(reference_ends);
  writer.add(std::span<const uint64_t>(ends));
  writer.end();
  writer.begin(reference_words);
  for (const Sentence& s : pool.sentences)
    for (const auto& reference : s.references) writer.add(std::span<const int32_t>(reference));
  writer.end();
  writer.finish(pool);
}

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
    strings(word_ends, [&](std::string_view text) { out.vocab->add(text); });
    strings(feature_ends, [&](std::string_view text) { out.features->add(text); });
    if (static_cast<size_t>(out.vocab->size()) + 1 != array<uint64_t>(word_ends).size()) damaged("words' text");
    if (static_cast<size_t>(out.features->size()) + 1 != array<uint64_t>(feature_ends).size()) damaged("features' text");
    strings(number_ends, [&](std::string_view text) { out.number_names.emplace_back(text); });
    out.dense_width = static_cast<int32_t>(header_.dense_width);
    if (out.number_names.size() != header_.number_width) damaged("numbers' text");
    std::vector<std::string> ids, sources;
    strings(id_ends, [&](std::string_view text) { ids.emplace_back(text); });
    strings(source_ends, [&](std::string_view text) { sources.emplace_back(text); });
    const uint64_t count = header_.sentences;
    if (ids.size() != count) damaged("ids' text");
    if (sources.size() != count) damaged("sources' text");

    const auto lines = array<uint64_t>(index);
    if (lines.size() % kColumns || lines.size() / kColumns != count + 1) damaged("index");
    for (size_t k = 0; k < lines.size(); ++k)
      if (k < kColumns ? lines[k] != 0 : lines[k] < lines[k - kColumns] || lines[k] - lines[k - kColumns] > 0x7ffffffe)
        damaged("index");
    const uint64_t* last = lines.data() + count * kColumns;
    const auto all_edge_begin = sized<int32_t>(edge_begin, last[c_nodes] + count);
    const auto all_tail_begin = sized<int32_t>(tail_begin, last[c_edges] + count);
    const auto all_tails = sized<int32_t>(tails, last[c_tails]);
    const auto all_word_begin = sized<int32_t>(word_begin, last[c_edges] + count);
    const auto all_words = sized<int32_t>(words, last[c_words]);
    const auto all_spans = sized<int32_t>(spans, last[c_spans]);
    const auto all_dense = sized<double>(dense, product(last[c_edges], header_.dense_width));
    const auto all_sparse_begin = sized<int32_t>(sparse_begin, last[c_sparse_begin]);
    const auto all_sparse_ids = sized<int32_t>(sparse_ids, last[c_sparse]);
    const auto all_sparse_values = sized<double>(sparse_values, last[c_sparse]);
    const auto all_numbers = sized<double>(numbers, product(last[c_edges], header_.number_width));
    const auto ends = sized<uint64_t>(reference_ends, last[c_references] + 1);
    const auto all_references = array<int32_t>(reference_words);
    if (ends[0] != 0 || ends.back() != all_references.size()) damaged("reference ends");
    for (size_t r = 0; r + 1 < ends.size(); ++r)
      if (ends[r] > ends[r + 1]) damaged("reference ends");
    for (const int32_t word : all_references)
      if (word < 0 || word >= out.vocab->size()) damaged("reference words");

    out.sentences.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t* a = lines.data() + i * kColumns;
      const uint64_t* b = a + kColumns;
      Sentence s{std::move(ids[i]), std::move(sources[i]), {}, {}};
      Forest& f = s.forest;
      const uint64_t edges = b[c_edges] - a[c_edges];
      f.edge_begin = all_edge_begin.subspan(a[c_nodes] + i, b[c_nodes] - a[c_nodes] + 1);
      f.tail_begin = all_tail_begin.subspan(a[c_edges] + i, edges + 1);
      f.tails = all_tails.subspan(a[c_tails], b[c_tails] - a[c_tails]);
      f.word_begin = all_word_begin.subspan(a[c_edges] + i, edges + 1);
      f.words = all_words.subspan(a[c_words], b[c_words] - a[c_words]);
      f.spans = all_spans.subspan(a[c_spans], b[c_spans] - a[c_spans]);
      f.dense_width = out.dense_width;
      f.number_width = static_cast<int32_t>(header_.number_width);
      f.dense = all_dense.subspan(a[c_edges] * header_.dense_width, edges * header_.dense_width);
      f.numbers = all_numbers.subspan(a[c_edges] * header_.number_width, edges * header_.number_width);
      f.sparse_begin = all_sparse_begin.subspan(a[c_sparse_begin], b[c_sparse_begin] - a[c_sparse_begin]);
      f.sparse_ids = all_sparse_ids.subspan(a[c_sparse], b[c_sparse] - a[c_sparse]);
      f.sparse_values = all_sparse_values.subspan(a[c_sparse], b[c_sparse] - a[c_sparse]);
      f.vocab = out.vocab;
      f.features = out.features;
      f.owner = owner;
      validate(f, file_ + ": sentence " + std::to_string(i));
      for (uint64_t r = a[c_references]; r < b[c_references]; ++r)
        s.references.emplace_back(all_references.begin() + static_cast<ptrdiff_t>(ends[r]),
                                  all_references.begin() + static_cast<ptrdiff_t>(ends[r + 1]));
      out.sentences.push_back(std::move(s));
    }
    return out;
  }

 private:
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
    map->size = static_cast<size_t>(about.st_size);
    void* const bytes = ::mmap(nullptr, map->size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (bytes != MAP_FAILED) map->bytes = bytes;
  }
  const auto error = failed();
  ::close(descriptor);
  if (!map->bytes) throw error;
  return forest_file_pool(static_cast<const char*>(map->bytes), map->size, map, file, verify);
}

}  // namespace hopefear
