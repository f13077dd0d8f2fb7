#include "lm/language_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "util/error.h"
#include "util/hash_table.h"

namespace hopefear {
namespace {

constexpr char kMagic[16] = "hopefear-lm\n";
constexpr uint32_t kPlain = 1, kWithRests = 2;  // formats: without and with rest costs
constexpr uint32_t kByteOrder = 0x01020304;
constexpr double kLoad = 0.75;  // of the buckets: most look-ups then end in their first cache line

uint64_t round_up(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Eight independent lanes, so that it runs at the speed of memory. `bytes` is a multiple of 64.
uint64_t checksum(const std::byte* data, size_t bytes) {
  uint64_t lane[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (size_t i = 0; i < bytes; i += 64) {
    uint64_t block[8];
    std::memcpy(block, data + i, 64);
    for (int k = 0; k < 8; ++k) {
      lane[k] = (lane[k] ^ block[k]) * 0x9fb21c651e98df25ULL;
      lane[k] ^= lane[k] >> 32;
    }
  }
  uint64_t sum = bytes;
  for (uint64_t value : lane) sum = (sum ^ (sum >> 29) ^ value) * 0xbf58476d1ce4e5b9ULL;
  return sum ^ (sum >> 32);
}

uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0x9e3779b97f4a7c15ULL ^ text.size();
  for (size_t i = 0; i < text.size(); i += 8) {
    uint64_t block = 0;
    std::memcpy(&block, text.data() + i, std::min<size_t>(8, text.size() - i));
    hash = (hash ^ block) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  return hash * 0xc4ceb9fe1a85ec53ULL;
}

uint64_t buckets_for(uint64_t ngrams, int ways) {
  return static_cast<uint64_t>(std::ceil(static_cast<double>(ngrams) / (ways * kLoad))) + 1;
}

}  // namespace

/// The sizes of the parts of the file, which follow each other in the order of offsets().
struct LanguageModel::Header {
  char magic[16];
  uint32_t version, byte_order, order, vocab_size;
  uint64_t counts[kMaxLmOrder];
  uint64_t buckets[kMaxLmOrder];    // [n - 1], 0 for unigrams
  uint64_t max_probe[kMaxLmOrder];  // the largest distance of any n-gram from its home bucket
  uint64_t text_bytes, word_slots;
  uint64_t file_bytes;
  uint64_t payload_checksum;
  uint64_t unused[37];       // zeros
  uint64_t header_checksum;  // of all bytes before it, and zeros in its own place

  struct Offsets {
    uint64_t unigrams, tables[kMaxLmOrder], text_begin, text, word_slots, rests[kMaxLmOrder], end;
  };
  uint64_t slots(uint32_t n) const { return n == 1 ? vocab_size : buckets[n - 1] * Bucket::kWays; }  // below the highest order
  Offsets offsets() const {
    Offsets at{};
    uint64_t end = sizeof(Header);
    const auto take = [&end](uint64_t bytes) { return std::exchange(end, round_up(end + bytes)); };
    at.unigrams = take(vocab_size * sizeof(Unigram));
    for (uint32_t n = 2; n <= order; ++n) at.tables[n - 1] = take(buckets[n - 1] * 64);
    at.text_begin = take((vocab_size + 1ULL) * sizeof(uint64_t));
    at.text = take(text_bytes);
    at.word_slots = take(word_slots * sizeof(uint64_t));
    for (uint32_t n = 1; version == kWithRests && n < order; ++n) at.rests[n - 1] = take(slots(n) * sizeof(float));
    at.end = end;
    return at;
  }
  uint64_t own_checksum() const {
    Header copy = *this;
    copy.header_checksum = 0;
    return checksum(reinterpret_cast<const std::byte*>(&copy), sizeof copy);
  }
};

LanguageModel LanguageModel::attach(std::shared_ptr<MemoryMap> memory, const std::string& name, bool verify) {
  static_assert(sizeof(Header) == 512 && sizeof(Bucket) == 64 && sizeof(TopBucket) == 64);
  const std::string cure = " Copy or make it anew, or give an ARPA file";
  if (memory->size() < sizeof(Header)) throw input_error(name, 0, "too short for a language model. Was the file cut off?" + cure);
  Header h;
  std::memcpy(&h, memory->data(), sizeof h);
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0)
    throw input_error(name, 0, "not a language model of hopefear. An ARPA file is read by LanguageModel.read_arpa");
  if ((h.version != kPlain && h.version != kWithRests) || h.byte_order != kByteOrder)
    throw input_error(name, 0,
                      "a language model of format " + std::to_string(h.version) + ", where this program reads formats " +
                          std::to_string(kPlain) + " and " + std::to_string(kWithRests) + " of this machine's byte order." +
                          cure);
  if (h.own_checksum() != h.header_checksum) throw input_error(name, 0, "the header is damaged (checksum differs)." + cure);
  if (h.file_bytes != memory->size())
    throw input_error(name, 0,
                      std::to_string(memory->size()) + " bytes where there should be " + std::to_string(h.file_bytes) +
                          ". Was the file cut off?" + cure);
  // From here on the header is ours unless checksums are forged; even then no read leaves the file.
  bool sane =
      h.order >= 1 && h.order <= kMaxLmOrder && h.vocab_size >= 3 && h.word_slots > 0 && std::has_single_bit(h.word_slots);
  for (uint64_t part : {h.text_bytes, h.word_slots * 8, h.buckets[1] * 64, h.buckets[2] * 64, h.buckets[3] * 64,
                        h.buckets[4] * 64, h.buckets[5] * 64})
    sane = sane && part <= h.file_bytes;
  for (uint32_t n = 2; sane && n <= h.order; ++n) sane = h.buckets[n - 1] > 0 && h.buckets[n - 1] <= (1ULL << 32) / 4;
  const Header::Offsets at = sane ? h.offsets() : Header::Offsets{};
  if (!sane || at.end != h.file_bytes) throw input_error(name, 0, "the header contradicts itself." + cure);
  const std::byte* data = memory->data();
  if (verify && checksum(data + sizeof(Header), h.file_bytes - sizeof(Header)) != h.payload_checksum)
    throw input_error(name, 0, "damaged (checksum differs)." + cure);

  LanguageModel m;
  m.order_ = static_cast<int>(h.order);
  m.vocab_size_ = h.vocab_size;
  std::copy(std::begin(h.counts), std::end(h.counts), m.counts_.begin());
  m.unigrams_ = reinterpret_cast<const Unigram*>(data + at.unigrams);
  for (uint32_t n = 2; n <= h.order; ++n) m.tables_[n - 2] = {data + at.tables[n - 1], h.buckets[n - 1], h.max_probe[n - 1]};
  for (uint32_t n = 1; h.version == kWithRests && n < h.order; ++n)
    m.rests_[n - 1] = reinterpret_cast<const float*>(data + at.rests[n - 1]);
  m.text_begin_ = reinterpret_cast<const uint64_t*>(data + at.text_begin);
  m.text_ = reinterpret_cast<const char*>(data + at.text);
  m.word_slots_ = reinterpret_cast<const uint64_t*>(data + at.word_slots);
  m.word_mask_ = h.word_slots - 1;
  for (uint32_t i = 0; i < h.vocab_size; ++i) sane = sane && m.text_begin_[i] <= m.text_begin_[i + 1];
  if (!sane || m.text_begin_[0] != 0 || m.text_begin_[h.vocab_size] != h.text_bytes)
    throw input_error(name, 0, "the vocabulary is damaged." + cure);
  m.memory_ = std::move(memory);
  return m;
}

LanguageModel LanguageModel::open(const std::string& path, bool verify) { return attach(MemoryMap::file(path), path, verify); }

/// Lays out lists as a file in memory, order by order; consumes the lists.
class LanguageModel::Builder {
 public:
  explicit Builder(BackoffModel&& model) : model_(std::move(model)), order_(model_.order()) {}

  std::shared_ptr<MemoryMap> run() {
    make_room();
    keep_shorter_contexts();
    mark_left_extensions();
    write_unigrams();
    for (int n = 2; n <= order_; ++n) {
      if (n < order_)
        write_ngrams<Bucket>(n, [this, n](Bucket& b, int way, size_t i) { b.value[way] = {marked(n, i), list(n).backoff[i]}; });
      else
        write_ngrams<TopBucket>(n, [this, n](TopBucket& b, int way, size_t i) { b.prob[way] = list(n).prob[i]; });
    }
    write_vocabulary();
    header_.payload_checksum = checksum(data_ + sizeof(Header), header_.file_bytes - sizeof(Header));
    header_.header_checksum = header_.own_checksum();
    std::memcpy(data_, &header_, sizeof header_);
    return memory_;
  }

 private:
  NgramList& list(int n) { return model_.lists[n - 1]; }

  void make_room() {
    Header& h = header_;
    std::memcpy(h.magic, kMagic, sizeof kMagic);
    h.version = order_ > 1 && !list(1).rest.empty() ? kWithRests : kPlain;
    h.byte_order = kByteOrder;
    h.order = static_cast<uint32_t>(order_);
    h.vocab_size = static_cast<uint32_t>(model_.vocab->size());
    for (int n = 1; n <= order_; ++n) {
      h.counts[n - 1] = list(n).size();
      if (n > 1) h.buckets[n - 1] = buckets_for(list(n).size(), n == order_ ? TopBucket::kWays : Bucket::kWays);
      if (n > 1 && n < order_ && h.buckets[n - 1] * Bucket::kWays >= 1ULL << 32)
        throw InputError("more than two billion " + std::to_string(n) + "-grams. Prune the model");
    }
    for (int32_t i = 0; i < model_.vocab->size(); ++i) h.text_bytes += (*model_.vocab)[i].size();
    h.word_slots = std::bit_ceil(h.vocab_size * 2ULL);
    at_ = h.offsets();
    h.file_bytes = at_.end;
    memory_ = MemoryMap::anonymous(h.file_bytes);
    data_ = memory_->data();
  }

  /// If a longer context is needed, so are its suffixes, so that states lose words from their far end only.
  void keep_shorter_contexts() {
    for (int n = order_ - 1; n >= 2; --n)
      for (size_t i = 0; i < list(n).size(); ++i) {
        float& shorter = list(n - 1).backoff[list(n).suffix[i]];
        if (has_extension(list(n).backoff[i]) && !has_extension(shorter)) shorter = 0.0f;
      }
  }

  void mark_left_extensions() {
    extends_left_.resize(order_);
    for (int n = 1; n <= order_; ++n) extends_left_[n - 1].resize(list(n).size());
    for (int n = 2; n <= order_; ++n)
      for (uint32_t suffix : list(n).suffix) extends_left_[n - 2][suffix] = true;
  }
  /// The probability of an n-gram, its sign bit set when no n-gram continues it to the left.
  float marked(int n, size_t i) {
    const float magnitude = std::fabs(list(n).prob[i]);
    return extends_left_[n - 1][i] ? magnitude : -magnitude;
  }

  void write_unigrams() {
    auto* unigrams = reinterpret_cast<Unigram*>(data_ + at_.unigrams);
    const size_t words = list(1).size();
    hash_.resize(words);
    slot_.resize(words);
    for (size_t i = 0; i < words; ++i) {
      unigrams[i] = {marked(1, i), order_ > 1 ? list(1).backoff[i] : kNoExtension};
      hash_[i] = hash_word(static_cast<uint32_t>(i));
      slot_[i] = static_cast<uint32_t>(i);
    }
    write_rests(1);
  }

  /// At slot_.
  void write_rests(int n) {
    if (header_.version != kWithRests || n == order_) return;
    auto* rests = reinterpret_cast<float*>(data_ + at_.rests[n - 1]);
    for (size_t i = 0; i < list(n).size(); ++i) rests[slot_[i]] = list(n).rest[i];
  }

  /// The table of one order above 1; put(bucket, way, i) writes the values of n-gram i.
  template <class B, class Put>
  void write_ngrams(int n, Put&& put) {
    constexpr size_t kAhead = 16;
    const NgramList& ngrams = list(n);
    const uint64_t size = header_.buckets[n - 1];
    auto* buckets = reinterpret_cast<B*>(data_ + at_.tables[n - 1]);
    KeptVector<uint64_t> next_hash(ngrams.size());
    KeptVector<uint32_t> next_slot(ngrams.size());
    for (uint64_t b = 0; b < size; ++b) std::fill(std::begin(buckets[b].key), std::end(buckets[b].key), kEmpty);
    for (size_t i = 0; i < ngrams.size() + kAhead; ++i) {
      if (i < ngrams.size()) {
        next_hash[i] = hash_extend(hash_[ngrams.suffix[i]], ngrams.word[i]);
        __builtin_prefetch(buckets + home_of(next_hash[i], size), 1);
      }
      if (i < kAhead) continue;
      const size_t j = i - kAhead;
      uint64_t b = home_of(next_hash[j], size), distance = 0;
      while (buckets[b].key[B::kWays - 1] != kEmpty) {
        if (++b == size) b = 0;
        ++distance;
      }
      int way = 0;
      while (buckets[b].key[way] != kEmpty) ++way;
      buckets[b].key[way] = key_of(slot_[ngrams.suffix[j]], ngrams.word[j]);
      put(buckets[b], way, j);
      next_slot[j] = static_cast<uint32_t>(b * B::kWays + way);
      header_.max_probe[n - 1] = std::max(header_.max_probe[n - 1], distance);
    }
    hash_.swap(next_hash);
    slot_.swap(next_slot);
    write_rests(n);
    list(n - 1) = {};  // no longer needed: this order has its keys
  }

  void write_vocabulary() {
    auto* text_begin = reinterpret_cast<uint64_t*>(data_ + at_.text_begin);
    auto* text = reinterpret_cast<char*>(data_ + at_.text);
    auto* slots = reinterpret_cast<uint64_t*>(data_ + at_.word_slots);
    uint64_t end = 0;
    for (int32_t i = 0; i < model_.vocab->size(); ++i) {
      const std::string& word = (*model_.vocab)[i];
      text_begin[i] = end;
      std::memcpy(text + end, word.data(), word.size());
      end += word.size();
      const uint64_t hash = hash_text(word);
      uint64_t* free = probe(slots, header_.word_slots - 1, hash >> 32, [](uint64_t slot) { return slot == 0; });
      *free = hash << 32 | (static_cast<uint64_t>(i) + 1);
    }
    text_begin[model_.vocab->size()] = end;
  }

  BackoffModel model_;
  int order_;
  Header header_{};
  Header::Offsets at_{};
  std::shared_ptr<MemoryMap> memory_;
  std::byte* data_ = nullptr;
  std::vector<std::vector<bool>> extends_left_;  // by order and n-gram
  KeptVector<uint64_t> hash_;                    // of the n-grams of the order before
  KeptVector<uint32_t> slot_;
};

LanguageModel LanguageModel::build(BackoffModel&& model) {
  return attach(Builder(std::move(model)).run(), "language model", false);
}

uint32_t LanguageModel::find(std::string_view text) const {
  const uint64_t hash = hash_text(text);
  uint32_t number = kUnk;
  uint64_t left = word_mask_ + 1;  // a damaged file may have no empty slot
  probe(word_slots_, word_mask_, hash >> 32, [&](uint64_t slot) {
    if (slot == 0 || left-- == 0) return true;
    const auto id = static_cast<uint32_t>(slot) - 1;
    const bool same = slot >> 32 == (hash & 0xffffffff) && id < vocab_size_ && word(id) == text;
    if (same) number = id;
    return same;
  });
  return number;
}

void LanguageModel::map_words(const Vocab& vocab, std::vector<uint32_t>& map) const {
  for (auto id = static_cast<int32_t>(map.size()); id < vocab.size(); ++id) map.push_back(find_in_text(vocab[id]));
}

double LanguageModel::score_text(std::string_view line, bool bos, bool eos, std::vector<WordScore>* each) const {
  LmContext contexts[2];
  if (bos) contexts[0] = begin_sentence();
  int now = 0;
  double sum = 0;
  const auto add = [&](uint32_t id) {
    const WordScore got = score(contexts[now], id, contexts[1 - now]);
    now = 1 - now;
    sum += got.prob;
    if (each) each->push_back(got);
  };
  lm_words(line, [&](std::string_view text) { add(find_in_text(text)); });
  if (eos) add(kEos);
  return sum;
}

BackoffModel LanguageModel::lists() const {
  BackoffModel m;
  m.lists.resize(order_);
  for (uint32_t i = 0; i < vocab_size_; ++i) {
    m.vocab->add(word(i));
    NgramList& list = m.lists[0];
    list.word.push_back(i);
    list.suffix.push_back(0);
    list.prob.push_back(-std::fabs(unigrams_[i].prob));
    list.backoff.push_back(unigrams_[i].backoff);
  }
  if (static_cast<uint32_t>(m.vocab->size()) != vocab_size_)
    throw InputError("the language model has a word twice. Make it anew");
  // An n-gram's key has the slot of its suffix; index_of[slot] is the suffix's index in the list.
  std::vector<uint32_t> index_of(vocab_size_), next;
  std::iota(index_of.begin(), index_of.end(), 0);
  for (int n = 2; n <= order_; ++n) {
    struct Row {
      uint32_t word, suffix, slot;
      float prob, backoff;
    };
    std::vector<Row> rows;
    rows.reserve(counts_[n - 1]);
    uint64_t slots = 0;
    const auto collect = [&](const auto* buckets, auto&& value) {
      constexpr int ways = std::remove_cvref_t<decltype(*buckets)>::kWays;
      slots = tables_[n - 2].size * ways;
      for (uint64_t s = 0; s < slots; ++s) {
        const auto& bucket = buckets[s / ways];
        const uint64_t key = bucket.key[s % ways];
        if (key == kEmpty) continue;
        const auto [prob, backoff] = value(bucket, s % ways);
        if (key >> 32 >= index_of.size() || static_cast<uint32_t>(key) >= vocab_size_)
          throw InputError("the language model is damaged. Make it anew");
        rows.push_back({static_cast<uint32_t>(key), index_of[key >> 32], static_cast<uint32_t>(s), -std::fabs(prob), backoff});
      }
    };
    if (n < order_)
      collect(reinterpret_cast<const Bucket*>(tables_[n - 2].buckets),
              [](const Bucket& b, uint64_t way) { return b.value[way]; });
    else
      collect(reinterpret_cast<const TopBucket*>(tables_[n - 2].buckets),
              [](const TopBucket& b, uint64_t way) { return Value{b.prob[way], 0}; });
    // Suffixes are in the order of their words already, so this is the order of the words of the n-grams.
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.word != b.word ? a.word < b.word : a.suffix < b.suffix; });
    NgramList& list = m.lists[n - 1];
    next.assign(n < order_ ? slots : 0, 0);
    for (const Row& row : rows) {
      if (n < order_) next[row.slot] = static_cast<uint32_t>(list.size());
      list.word.push_back(row.word);
      list.suffix.push_back(row.suffix);
      list.prob.push_back(row.prob);
      if (n < order_) list.backoff.push_back(row.backoff);
    }
    index_of.swap(next);
  }
  return m;
}

}  // namespace hopefear
