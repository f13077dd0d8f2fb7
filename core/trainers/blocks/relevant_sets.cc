#include "trainers/blocks/relevant_sets.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "util/checksum.h"
#include "util/error.h"

namespace hopefear {
namespace {

struct Header {
  char magic[8];
  uint32_t version, bag;
  uint64_t sentences, sequences, blocks, model, checksum;
};
constexpr char kMagic[9] = "hfblocks";
constexpr uint32_t kVersion = 1;

size_t body_size(uint64_t sentences, uint64_t sequences, uint64_t blocks) {
  return (sentences + 1 + sequences + 1) * 8 + (sequences * 4 + 7) / 8 * 8 + blocks * sizeof(StoredBlock);
}

}  // namespace

std::string SequenceFile::bytes(const BlockSequences& s, bool bag, uint64_t model) {
  Header header{{}, kVersion, bag, s.sentence_begin.size() - 1, s.bleu.size(), s.blocks.size(), model, 0};
  std::memcpy(header.magic, kMagic, 8);
  std::string out(sizeof(Header) + body_size(header.sentences, header.sequences, header.blocks), '\0');
  char* p = out.data() + sizeof(Header);
  const auto put = [&](const auto& values) {
    const size_t size = values.size() * sizeof(values[0]);
    if (size) std::memcpy(p, values.data(), size);
    p += (size + 7) / 8 * 8;
  };
  put(s.sentence_begin);
  put(s.block_begin);
  put(s.bleu);
  put(s.blocks);
  header.checksum = checksum(std::as_bytes(std::span(out).subspan(sizeof(Header))));
  std::memcpy(out.data(), &header, sizeof(Header));
  return out;
}

std::shared_ptr<SequenceFile> SequenceFile::open(const std::string& path, const BlockDecoder& decoder,
                                                 const std::vector<BlockSource>& sources, uint64_t model) {
  const auto fail = [&](const char* finding) -> InputError {
    return input_error(path, 0, std::string(finding) + ". Start again with --overwrite");
  };
  auto out = std::make_shared<SequenceFile>();
  out->memory_ = MemoryMap::file(path);
  Header header;
  if (out->memory_->size() < sizeof(Header)) throw fail("is no file of block sequences");
  std::memcpy(&header, out->memory_->data(), sizeof(Header));
  if (std::memcmp(header.magic, kMagic, 8) != 0 || header.version != kVersion)
    throw fail("is no file of block sequences of this version");
  const uint64_t limit = out->memory_->size();
  if (header.sentences > limit || header.sequences > limit || header.blocks > limit ||
      limit != sizeof(Header) + body_size(header.sentences, header.sequences, header.blocks))
    throw fail("was cut off");
  const std::byte* p = out->memory_->data() + sizeof(Header);
  if (checksum({p, limit - sizeof(Header)}) != header.checksum) throw fail("is damaged: its checksum is wrong");
  if (header.model != model || header.sentences != sources.size()) throw fail("belongs to another model or other sentences");
  const auto take = [&]<class T>(std::span<const T>& values, uint64_t count) {
    values = {reinterpret_cast<const T*>(p), count};
    p += (count * sizeof(T) + 7) / 8 * 8;
  };
  take(out->sentence_begin_, header.sentences + 1);
  take(out->block_begin_, header.sequences + 1);
  take(out->bleu_, header.sequences);
  take(out->blocks_, header.blocks);
  out->bag_ = header.bag != 0;
  // The following checks cannot fail for a file that we wrote for these sentences; they protect from all other files.
  const auto rises = [](std::span<const uint64_t> begin, uint64_t total) {
    for (size_t i = 1; i < begin.size(); ++i)
      if (begin[i - 1] > begin[i]) return false;
    return begin.front() == 0 && begin.back() == total;
  };
  if (!rises(out->sentence_begin_, header.sequences) || !rises(out->block_begin_, header.blocks)) throw fail("is not in order");
  for (size_t i = 0; i < sources.size(); ++i)
    for (auto [s, end] = out->of(i); s < end; ++s) {
      if (!std::isfinite(out->bleu_[s])) throw fail("has a BLEU that is no number");
      for (const StoredBlock& b : out->blocks(s))
        if (b.length == 0 || b.begin + b.length > sources[i].words.size() || b.copy > 4 ||
            (b.copy ? b.length != 1 || sources[i].copies[b.begin] < 0 : b.rule >= decoder.grammar().rules()))
          throw fail("has a block that does not fit its sentence");
    }
  return out;
}

double SequenceFile::mean_bleu() const {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < sentences(); ++i)
    if (const auto [begin, end] = of(i); begin < end) {
      sum += static_cast<double>(bleu(begin));
      ++n;
    }
  return n ? sum / static_cast<double>(n) : 0.0;
}

size_t SequenceFile::changed(const SequenceFile& other) const {
  size_t n = 0;
  for (size_t i = 0; i < std::min(sentences(), other.sentences()); ++i) {
    const auto [begin, end] = of(i);
    const auto [theirs, theirs_end] = other.of(i);
    n += begin == end || theirs == theirs_end ? (begin == end) != (theirs == theirs_end)
                                              : !std::ranges::equal(blocks(begin), other.blocks(theirs));
  }
  return n;
}

}  // namespace hopefear
