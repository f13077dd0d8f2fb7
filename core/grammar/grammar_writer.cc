#include "grammar/grammar_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

#include "grammar/extract.h"
#include "grammar/grammar_file.h"
#include "grammar/merged_rules.h"
#include "util/checksum.h"
#include "util/hash_table.h"
#include "util/parallel.h"
#include "util/random_access_file.h"

namespace hopefear {
namespace {

/// A sequence of numbers in a temporary file, first written, then read from the beginning.
class Spool {
 public:
  Spool(const std::string& folder, const char* name) : file_(RandomAccessFile::temporary(folder + "/" + name)) {}

  template <class T>
  void push(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= kChunk) flush();
  }
  size_t size() const { return size_ + buffer_.size(); }
  /// Calls each(bytes) for all pieces in order. Nothing can be pushed afterwards.
  template <class Each>
  void read(Each&& each) {
    flush();
    for (size_t at = 0; at < size_; at += buffer_.size()) {
      buffer_.resize(std::min(kChunk, size_ - at));
      file_.read(at, buffer_);
      each(std::span<const std::byte>(buffer_));
    }
    file_ = {};
    buffer_ = {};
  }

 private:
  static constexpr size_t kChunk = 1 << 18;  // a multiple of the size of any number
  void flush() {
    file_.write(size_, buffer_);
    size_ += buffer_.size();
    buffer_.clear();
  }
  RandomAccessFile file_;
  size_t size_ = 0;  // in the file
  std::vector<std::byte> buffer_;
};

/// The files of all parts, and the heads of their shards.
struct Parts {
  struct Shard {
    const RandomAccessFile* file;
    MergedShard head;
  };
  std::vector<RandomAccessFile> files;
  std::vector<Shard> shards;

  explicit Parts(const std::vector<std::string>& paths) {
    files.reserve(paths.size());
    for (const std::string& path : paths) {
      files.push_back(RandomAccessFile::open(path));
      const RandomAccessFile& file = files.back();
      std::array<MergedShard, kShards / Extractor::kParts> heads;
      file.read(0, std::as_writable_bytes(std::span(heads)));
      for (const MergedShard& head : heads) shards.push_back({&file, head});
    }
  }
  template <class T>
  static void load(const Shard& shard, const MergedShard::Place& place, std::vector<T>& values) {
    values.resize(place.count);
    shard.file->read(place.begin, std::as_writable_bytes(std::span(values)));
  }
};

/// Fills in, for each kept rule, the count of its target side over all rules.
void answer(const Parts& parts, size_t t) {
  HashTable<Total, 5> table;
  std::vector<Total> totals;
  std::vector<uint64_t> asked;
  const auto is = [](uint64_t hash) { return [hash](const Total& total) { return total.hash == hash; }; };
  for (const Parts::Shard& shard : parts.shards) {
    Parts::load(shard, shard.head.totals[t], totals);
    for (const Total& one : totals) {
      Total* total = table.insert(one.hash, is(one.hash), [](const Total& each) { return each.hash; }).first;
      total->hash = one.hash;
      total->count += one.count;
    }
  }
  for (const Parts::Shard& shard : parts.shards) {
    Parts::load(shard, shard.head.asked[t], asked);
    for (uint64_t& hash : asked) hash = table.find(hash, is(hash)).count;
    shard.file->write(shard.head.asked[t].begin, std::as_bytes(std::span(asked)));
  }
}

/// The sides of one shard in order, and the target counts of its rules.
class ShardReader {
 public:
  explicit ShardReader(const Parts::Shard& shard) : shard_(&shard), answers_(kTargetParts) {}

  /// Goes to the next side; false at the end.
  bool next() {
    at_ += at_ < words_.size() ? words_[at_] : 0;
    if (at_ == words_.size() && read_ == shard_->head.stream.count) return false;
    if (words_.size() - at_ < 1 || words_.size() - at_ < words_[at_]) fetch();
    return true;
  }
  uint32_t rules() const { return words_[at_ + 1]; }
  std::span<const int32_t> symbols() const {
    return {reinterpret_cast<const int32_t*>(words_.data() + at_ + 3), words_[at_ + 2]};
  }
  MergedRule first_rule(size_t width) const { return {words_.data() + at_ + 3 + words_[at_ + 2], width}; }
  /// The next count, for a target side with this hash.
  uint64_t total(uint64_t hash) {
    const size_t t = part_of(hash, kTargetParts);
    Answers& answers = answers_[t];
    if (answers.at == answers.values.size()) {
      const MergedShard::Place& place = shard_->head.asked[t];
      answers.values.resize(std::min<uint64_t>(kAnswers, place.count - answers.read));
      shard_->file->read(place.begin + answers.read * sizeof(uint64_t), std::as_writable_bytes(std::span(answers.values)));
      answers.read += answers.values.size();
      answers.at = 0;
    }
    return answers.values[answers.at++];
  }

 private:
  static constexpr size_t kWords = 1 << 13, kAnswers = 64;
  struct Answers {
    std::vector<uint64_t> values;
    size_t at = 0;
    uint64_t read = 0;
  };
  /// Reads the rest of a side that begins in the buffer, and more.
  void fetch() {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    while (words_.empty() || words_.size() < words_[0]) {
      const size_t have = words_.size(), wanted = have == 0 ? kWords : std::max<size_t>(kWords, words_[0]);
      const size_t more = std::min<uint64_t>(wanted, shard_->head.stream.count - read_);
      if (more == 0) throw InputError("a part of the extracted rules is cut off. Build again");
      words_.resize(have + more);
      shard_->file->read(shard_->head.stream.begin + read_ * sizeof(uint32_t),
                         std::as_writable_bytes(std::span(words_).subspan(have)));
      read_ += more;
    }
  }

  const Parts::Shard* shard_;
  std::vector<uint32_t> words_;
  size_t at_ = 0;      // where the side begins in words_
  uint64_t read_ = 0;  // words of the stream so far
  std::vector<Answers> answers_;
};

/// The nodes of the trie, level by level, as their sides come in order.
class TrieWriter {
 public:
  explicit TrieWriter(const std::string& folder) : folder_(folder) {
    open_level();
    levels_[0]->symbol.push(int32_t{0});
    levels_[0]->first_side.push(uint32_t{0});
  }

  void add(std::span<const int32_t> symbols, uint32_t side) {
    size_t depth = 0;
    while (depth < std::min(path_.size(), symbols.size()) && path_[depth] == symbols[depth]) ++depth;
    for (size_t d = path_.size(); d > depth; --d) close(d);
    path_.assign(symbols.begin(), symbols.end());
    for (; depth < symbols.size(); ++depth) {
      if (levels_.size() < depth + 2) open_level();
      ++levels_[depth]->open;
      levels_[depth + 1]->symbol.push(symbols[depth]);
      levels_[depth + 1]->first_side.push(side);
      if (++nodes_ > std::numeric_limits<uint32_t>::max()) throw InputError("the grammar has more than 2^32 source prefixes");
    }
  }
  void finish() {
    for (size_t d = path_.size() + 1; d-- > 0;) close(d);
  }
  /// each(bytes) of a section.
  template <class Each>
  void read(Section section, Each&& each) {
    if (section == kChildBegin) {
      auto begin = uint32_t{1};
      std::vector<uint32_t> begins{begin};
      for (auto& level : levels_)
        level->children.read([&](std::span<const std::byte> bytes) {
          for (size_t i = 0; i < bytes.size(); i += sizeof begin) {
            uint32_t children;
            std::memcpy(&children, bytes.data() + i, sizeof children);
            begins.push_back(begin += children);
          }
          each(std::as_bytes(std::span(begins)));
          begins.clear();
        });
      return;
    }
    for (auto& level : levels_) (section == kSymbol ? level->symbol : level->first_side).read(each);
  }

 private:
  struct Level {
    explicit Level(const std::string& folder) : symbol(folder, "symbol"), first_side(folder, "side"), children(folder, "child") {}
    Spool symbol, first_side, children;
    uint32_t open = 0;  // children so far of the last node
  };
  void open_level() { levels_.push_back(std::make_unique<Level>(folder_)); }
  void close(size_t level) { levels_[level]->children.push(std::exchange(levels_[level]->open, 0)); }

  const std::string folder_;
  std::vector<int32_t> path_;
  std::vector<std::unique_ptr<Level>> levels_;
  uint64_t nodes_ = 1;
};

/// All rules in the order of the file, section by section.
class SectionWriter {
 public:
  SectionWriter(const ParallelText& text, const std::string& folder, const GrammarWriterOptions& options)
      : options_(options),
        trie_(folder),
        rule_begin_(folder, "rule-begin"),
        target_begin_(folder, "target-begin"),
        target_(folder, "target"),
        link_begin_(folder, "link-begin"),
        links_(folder, "links"),
        columns_(folder, "columns") {
    words_.names = rule_columns(options.orientations);
    words_.source_vocab = text.source_vocab, words_.target_vocab = text.target_vocab;
    row_.resize(words_.names.size());
    for (Spool* begin : {&rule_begin_, &target_begin_, &link_begin_}) begin->push(uint32_t{0});
  }

  void add(ShardReader& side) {
    const auto symbols = side.symbols();
    const uint64_t before = rules_;
    MergedRule rule = side.first_rule(row_.size());
    for (uint32_t r = 0; r < side.rules(); ++r, rule = rule.next()) {
      rule.fill(row_.data(), side.total(rule.target_hash()));
      if (!keeps() && !(r == 0 && symbols.size() == 1)) continue;
      for (int32_t symbol : rule.target()) target_.push(symbol);
      for (size_t k = 0; k < rule.links(); ++k) links_.push(PackedLink{rule.link(k).first, rule.link(k).second});
      for (float value : row_) columns_.push(value);
      ++rules_;
      target_begin_.push(below(targets_ += rule.target_size()));
      link_begin_.push(below(linked_ += rule.links()));
      if (symbols.size() == 1) add_word(rule);
    }
    if (rules_ == before) return;
    trie_.add(symbols, below(sides_++));
    rule_begin_.push(below(rules_));
    if (symbols.size() != 1) return;
    words_.source.push_back(symbols[0]);
    words_.source_begin.push_back(static_cast<uint32_t>(words_.source.size()));
    words_.rule_begin.push_back(static_cast<uint32_t>(words_.rules()));
  }

  void write(const std::string& path) {
    trie_.finish();
    const auto file = RandomAccessFile::create(path);
    std::string names, texts[2];
    for (const auto& name : words_.names) names += name + "\n";
    std::vector<uint32_t> begins[2];
    pack_words(*words_.source_vocab, begins[0], texts[0]);
    pack_words(*words_.target_vocab, begins[1], texts[1]);
    GrammarTable table;
    const auto section = [&](Section i, auto&& read) {
      Checksum sum;
      const uint64_t begin = table.size();
      uint64_t size = 0;
      read([&](std::span<const std::byte> bytes) {
        file.write(begin + size, bytes);
        sum.add(bytes);
        size += bytes.size();
      });
      table.place(i, size);
      table.entries[i].checksum = sum.value();
    };
    const auto held = [&](Section i, auto&& values) { section(i, [&](auto&& each) { each(std::as_bytes(std::span(values))); }); };
    const auto spooled = [&](Section i, Spool& spool) { section(i, [&](auto&& each) { spool.read(each); }); };
    held(kNames, names);
    held(kSourceBegin, begins[0]), held(kSourceText, texts[0]);
    held(kTargetBegin, begins[1]), held(kTargetText, texts[1]);
    for (const Section i : {kChildBegin, kSymbol, kFirstSide}) section(i, [&](auto&& each) { trie_.read(i, each); });
    spooled(kRuleBegin, rule_begin_), spooled(kRuleTarget, target_begin_), spooled(kSymbols, target_);
    spooled(kRuleLinks, link_begin_), spooled(kLinks, links_), spooled(kColumns, columns_);
    file.resize(table.size());
    file.write(0, table.bytes());
  }

  uint64_t rules() const { return rules_; }
  RuleTable&& words() { return std::move(words_); }

 private:
  bool keeps() const {
    const double ef = row_[0], fe = row_[1];
    return ef >= options_.least_ef && (ef + fe) / 2 >= options_.least_symmetric;
  }
  static uint32_t below(uint64_t count) {
    if (count > std::numeric_limits<uint32_t>::max())
      throw InputError("the grammar would have more than 2^32 symbols. Drop rare rules (min_hierarchical, max_options)");
    return static_cast<uint32_t>(count);
  }
  void add_word(const MergedRule& rule) {
    words_.target.insert(words_.target.end(), rule.target().begin(), rule.target().end());
    words_.target_begin.push_back(static_cast<uint32_t>(words_.target.size()));
    for (size_t k = 0; k < rule.links(); ++k) words_.links.push_back({rule.link(k).first, rule.link(k).second});
    words_.link_begin.push_back(static_cast<uint32_t>(words_.links.size()));
    words_.columns.insert(words_.columns.end(), row_.begin(), row_.end());
  }

  const GrammarWriterOptions options_;
  TrieWriter trie_;
  Spool rule_begin_, target_begin_, target_, link_begin_, links_, columns_;
  RuleTable words_;
  std::vector<float> row_;
  uint64_t rules_ = 0, sides_ = 0, targets_ = 0, linked_ = 0;
};

}  // namespace

WrittenGrammar write_grammar(const ParallelText& text, const std::vector<std::string>& merged, const std::string& folder,
                             const std::string& out, const GrammarWriterOptions& options, int jobs) {
  const Parts parts(merged);
  parallel_for(kTargetParts, jobs, [&](size_t t, int) { answer(parts, t); });
  std::vector<ShardReader> readers;
  uint64_t seen = 0;
  for (const Parts::Shard& shard : parts.shards) {
    readers.emplace_back(shard);
    seen += shard.head.rules;
  }
  const auto later = [&](size_t a, size_t b) {
    return std::ranges::lexicographical_compare(readers[b].symbols(), readers[a].symbols());
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> first(later);
  for (size_t i = 0; i < readers.size(); ++i)
    if (readers[i].next()) first.push(i);
  SectionWriter writer(text, folder, options);
  while (!first.empty()) {
    const size_t i = first.top();
    first.pop();
    writer.add(readers[i]);
    if (readers[i].next()) first.push(i);
  }
  if (writer.rules() > 0) writer.write(out);
  return {writer.words(), seen};
}

}  // namespace hopefear
