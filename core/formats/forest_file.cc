#include "formats/forest_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "util/text.h"

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

void write_all(int descriptor, const char* data, size_t size, uint64_t at, const std::string& file) {
  while (size > 0) {
    const ssize_t done = ::pwrite(descriptor, data, size, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw input_error(
          file, 0, std::string("could not be written (") + std::strerror(errno) + "). Name an ordinary file on a disk with room");
    data += done;
    at += static_cast<uint64_t>(done);
    size -= done;
  }
}

/// Bytes at the end of a file, through a buffer.
class Appender {
 public:
  Appender(int descriptor, const std::string& file, uint64_t at)
      : descriptor_(descriptor), file_(file), place_(at), flushed_(at) {}
  uint64_t place() const { return place_; }
  void put(const char* data, size_t size) {
    if (size == 0) return;
    place_ += size;
    if (size < (size_t{1} << 16)) {
      buffer_.append(data, size);
      if (buffer_.size() >= size_t{1} << 18) flush();
      return;
    }
    flush();
    write_all(descriptor_, data, size, flushed_, file_);
    flushed_ += size;
  }
  void flush() {
    write_all(descriptor_, buffer_.data(), buffer_.size(), flushed_, file_);
    flushed_ += buffer_.size();
    buffer_.clear();
  }

 private:
  int descriptor_;
  const std::string& file_;
  std::string buffer_;
  uint64_t place_, flushed_;
};

/// The file itself, section after section.
class Writer {
 public:
  Writer(int descriptor, const std::string& file)
      : descriptor_(descriptor), file_(file), out_(descriptor, file, sizeof(Header) + kSections * sizeof(Section)) {}

  void begin(uint32_t kind) {
    static constexpr char zeros[kAlign] = {};
    out_.put(zeros, (kAlign - out_.place() % kAlign) % kAlign);
    sections_.push_back({kind, kElement[kind], out_.place(), 0, 0});
    checksum_ = {};
  }
  template <class T>
  void add(std::span<const T> values) {
    const size_t size = values.size_bytes();
    checksum_.update(values.data(), size);
    out_.put(reinterpret_cast<const char*>(values.data()), size);
    sections_.back().bytes += size;
  }
  void end() { sections_.back().checksum = checksum_.value(); }

  void finish(const Pool& pool, uint64_t sentences) {
    out_.flush();
    Header header{};
    std::memcpy(header.magic, kForestMagic, 16);
    header.version = kVersion;
    header.section_count = static_cast<uint32_t>(sections_.size());
    header.file_size = out_.place();
    header.table_checksum = Checksum::of(sections_.data(), sections_.size() * sizeof(Section));
    header.dense_width = static_cast<uint32_t>(pool.dense_width);
    header.number_width = static_cast<uint32_t>(pool.number_names.size());
    header.sentences = sentences;
    header.checksum = Checksum::of(&header, 56);
    write_all(descriptor_, reinterpret_cast<const char*>(&header), sizeof header, 0, file_);
    write_all(descriptor_, reinterpret_cast<const char*>(sections_.data()), sections_.size() * sizeof(Section), sizeof header,
              file_);
  }

 private:
  int descriptor_;
  const std::string& file_;
  Appender out_;
  std::vector<Section> sections_;
  Checksum checksum_;
};

/// Sections that grow side by side, each in a file without a name, until they can be put after one another.
class Spools {
 public:
  Spools(std::string folder, const std::string& file) : folder_(std::move(folder)), file_(file), spools_(kinds_end) {}
  ~Spools() {
    for (const auto& spool : spools_)
      if (spool) ::close(spool->descriptor);
  }
  Spools(const Spools&) = delete;

  void begin(uint32_t kind) {
    now_ = spools_[kind].get();
    if (now_) return;
    std::string name = folder_ + "/.forests.XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0)
      throw input_error(
          file_, 0,
          std::string("could not be written (") + std::strerror(errno) + "). Name an ordinary file on a disk with room");
    ::unlink(name.c_str());
    spools_[kind] = std::make_unique<Spool>(descriptor, file_);
    now_ = spools_[kind].get();
  }
  template <class T>
  void add(std::span<const T> values) {
    now_->out.put(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void end() {}

  /// All of a section at the end of the file.
  void move_to(Writer& writer, uint32_t kind) {
    begin(kind);
    now_->out.flush();
    std::vector<char> block(size_t{1} << 20);
    writer.begin(kind);
    for (uint64_t at = 0; at < now_->out.place();) {
      const ssize_t got = ::pread(now_->descriptor, block.data(), block.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw input_error(file_, 0, "what was written could not be read again. Is the disk in order?");
      writer.add(std::span<const char>(block.data(), static_cast<size_t>(got)));
      at += static_cast<uint64_t>(got);
    }
    writer.end();
    ::close(now_->descriptor);
    spools_[kind].reset();
  }

 private:
  struct Spool {
    Spool(int d, const std::string& file) : descriptor(d), out(d, file, 0) {}
    int descriptor;
    Appender out;
  };
  std::string folder_;
  const std::string& file_;
  std::vector<std::unique_ptr<Spool>> spools_;
  Spool* now_ = nullptr;
};

/// How much of everything was written, by which later sentences count on.
struct Totals {
  uint64_t sentences = 0;
  uint64_t id_end = 0, source_end = 0, reference_end = 0;
  std::array<uint64_t, kColumns> line{};
};

/// Ends of the strings, and their bytes after one another; `end` is that of the strings before, `first` whether there are none.
template <class Out, class Text>
void write_strings(Out& out, uint32_t kind, size_t count, Text&& text, uint64_t& end, bool first) {
  std::vector<uint64_t> ends;
  ends.reserve(count + 1);
  if (first) ends.push_back(end);
  for (size_t i = 0; i < count; ++i) ends.push_back(end += text(i).size());
  out.begin(kind);
  out.add(std::span<const uint64_t>(ends));
  out.end();
  out.begin(kind + 1);
  for (size_t i = 0; i < count; ++i) out.add(std::span<const char>(text(i).data(), text(i).size()));
  out.end();
}

template <class Out, class Array>
void write_arrays(Out& out, uint32_t kind, const Pool& pool, Array&& array) {
  out.begin(kind);
  for (const Sentence& s : pool.sentences) out.add(array(s.forest));
  out.end();
}

template <class Out>
void write_names(Out& out, const Pool& pool) {
  const auto strings = [&](uint32_t kind, size_t count, auto&& text) {
    uint64_t end = 0;
    write_strings(out, kind, count, text, end, true);
  };
  const auto vocab = [](const Vocab& v) { return [&v](size_t i) -> const std::string& { return v[static_cast<int32_t>(i)]; }; };
  strings(word_ends, pool.vocab->size(), vocab(*pool.vocab));
  strings(feature_ends, pool.features->size(), vocab(*pool.features));
  strings(number_ends, pool.number_names.size(), [&](size_t i) -> const std::string& { return pool.number_names[i]; });
}

template <class Out>
void write_sentences(Out& out, const Pool& pool, Totals& total) {
  const bool first = total.sentences == 0;
  write_strings(
      out, id_ends, pool.size(), [&](size_t i) -> const std::string& { return pool.sentences[i].id; }, total.id_end, first);
  write_strings(
      out, source_ends, pool.size(), [&](size_t i) -> const std::string& { return pool.sentences[i].source; }, total.source_end,
      first);

  std::vector<uint64_t> lines, ends;
  lines.reserve((pool.size() + 1) * kColumns);
  if (first) {
    lines.assign(kColumns, 0);
    ends.push_back(0);
  }
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
    for (size_t c = 0; c < kColumns; ++c) lines.push_back(total.line[c] += more[c]);
    for (const auto& reference : s.references) ends.push_back(total.reference_end += reference.size());
  }
  total.sentences += pool.size();
  out.begin(index);
  out.add(std::span<const uint64_t>(lines));
  out.end();
  write_arrays(out, edge_begin, pool, [](const Forest& f) { return f.edge_begin; });
  write_arrays(out, tail_begin, pool, [](const Forest& f) { return f.tail_begin; });
  write_arrays(out, tails, pool, [](const Forest& f) { return f.tails; });
  write_arrays(out, word_begin, pool, [](const Forest& f) { return f.word_begin; });
  write_arrays(out, words, pool, [](const Forest& f) { return f.words; });
  write_arrays(out, spans, pool, [](const Forest& f) { return f.spans; });
  write_arrays(out, dense, pool, [](const Forest& f) { return f.dense; });
  write_arrays(out, sparse_begin, pool, [](const Forest& f) { return f.sparse_begin; });
  write_arrays(out, sparse_ids, pool, [](const Forest& f) { return f.sparse_ids; });
  write_arrays(out, sparse_values, pool, [](const Forest& f) { return f.sparse_values; });
  write_arrays(out, numbers, pool, [](const Forest& f) { return f.numbers; });
  out.begin(reference_ends);
  out.add(std::span<const uint64_t>(ends));
  out.end();
  out.begin(reference_words);
  for (const Sentence& s : pool.sentences)
    for (const auto& reference : s.references) out.add(std::span<const int32_t>(reference));
  out.end();
}

void check_shared(const Pool& pool, const Pool& first, const std::string& file) {
  for (const Sentence& s : pool.sentences) {
    const Forest& f = s.forest;
    if (f.vocab != first.vocab || f.features != first.features || f.dense_width != first.dense_width ||
        f.number_width != static_cast<int32_t>(first.number_names.size()))
      throw input_error(file, 0, "sentence " + s.id + " does not share the vocabularies of its pool. Make the pool with append");
  }
}

}  // namespace

void write_forest_file(const Pool& pool, int descriptor, const std::string& file) {
  check_shared(pool, pool, file);
  Writer writer(descriptor, file);
  Totals total;
  write_names(writer, pool);
  write_sentences(writer, pool, total);
  writer.finish(pool, total.sentences);
}

struct ForestFileWriter::Parts {
  Parts(int d, std::string f, std::string folder) : descriptor(d), file(std::move(f)), spools(std::move(folder), file) {}
  int descriptor;
  std::string file;
  Spools spools;
  Totals total;
  std::optional<Pool> first;  // without its sentences
};

ForestFileWriter::ForestFileWriter(int descriptor, std::string file, std::string folder)
    : parts_(std::make_unique<Parts>(descriptor, std::move(file), std::move(folder))) {}
ForestFileWriter::~ForestFileWriter() = default;

void ForestFileWriter::add(const Pool& pool) {
  if (!parts_->first) {
    parts_->first = pool;
    parts_->first->sentences.clear();
  }
  check_shared(pool, *parts_->first, parts_->file);
  if (pool.size() > 0) write_sentences(parts_->spools, pool, parts_->total);
}

void ForestFileWriter::finish() {
  Pool first = parts_->first.value_or(Pool());
  if (parts_->total.sentences == 0) return write_forest_file(first, parts_->descriptor, parts_->file);
  Writer writer(parts_->descriptor, parts_->file);
  write_names(writer, first);
  for (uint32_t kind = id_ends; kind < kinds_end; ++kind) parts_->spools.move_to(writer, kind);
  writer.finish(first, parts_->total.sentences);
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
