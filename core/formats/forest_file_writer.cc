#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "formats/forest_file.h"
#include "formats/forest_layout.h"
#include "util/text.h"

namespace hopefear {
namespace {

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

/// Appends bytes to a file through a buffer.
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

/// Sections that grow at the same time, each in an unnamed temporary file, until they are concatenated.
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

  /// Appends a whole section to the file.
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

/// The totals written so far, from which the offsets of later sentences continue.
struct Totals {
  uint64_t sentences = 0;
  uint64_t id_end = 0, source_end = 0, reference_end = 0;
  std::array<uint64_t, kColumns> line{};
};

/// The ends of the strings, and their bytes concatenated; `end` is the end of the previous strings, `first` whether there are none.
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

}  // namespace hopefear
