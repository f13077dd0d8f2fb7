// The beginning of a grammar's file: a header and a table of sections. grammar.h describes the sections.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "grammar/grammar.h"
#include "util/checksum.h"
#include "util/error.h"
#include "util/vocab.h"

namespace hopefear {

inline constexpr char kMagic[16] = "hopefear rules\n";
inline constexpr size_t kAlign = 64;

enum Section {
  kNames,
  kSourceBegin,
  kSourceText,
  kTargetBegin,
  kTargetText,
  kChildBegin,
  kSymbol,
  kFirstSide,
  kRuleBegin,
  kRuleTarget,
  kSymbols,
  kRuleLinks,
  kLinks,
  kColumns,
  kSections
};
inline constexpr std::array<const char*, kSections> kSectionNames = {
    "names",      "source_begin", "source_text", "target_begin", "target_text", "child_begin", "symbol",
    "first_side", "rule_begin",   "rule_target", "symbols",      "rule_links",  "links",       "columns"};

struct GrammarHeader {
  char magic[16];
  uint32_t version, byte_order;
  uint64_t size, checksum;  // of the file; of the header and section table with this field zero
  uint32_t sections, unused;
};
struct SectionEntry {
  char name[16];
  uint64_t offset, size, checksum;
};
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr size_t kTableSize = sizeof(GrammarHeader) + kSections * sizeof(SectionEntry);

inline uint64_t table_checksum(const std::byte* data) {
  std::array<std::byte, kTableSize> copy;
  std::memcpy(copy.data(), data, kTableSize);
  std::memset(copy.data() + offsetof(GrammarHeader, checksum), 0, sizeof(uint64_t));
  return checksum(copy);
}

/// The words of a vocabulary concatenated, and where each begins.
inline void pack_words(const Vocab& vocab, std::vector<uint32_t>& begin, std::string& text) {
  begin.assign(1, 0);
  for (int32_t i = 0; i < vocab.size(); ++i) {
    text += vocab[i];
    if (text.size() > std::numeric_limits<uint32_t>::max()) throw InputError("the words of the grammar take more than 4 GB");
    begin.push_back(static_cast<uint32_t>(text.size()));
  }
}

/// The beginning of a file that is being written: sections get their places in order.
struct GrammarTable {
  std::array<SectionEntry, kSections> entries{};

  size_t size() const { return end_; }
  void place(size_t i, size_t size) {
    std::strncpy(entries[i].name, kSectionNames[i], sizeof entries[i].name - 1);
    entries[i].offset = end_;
    entries[i].size = size;
    end_ = aligned(end_ + size);
  }
  /// Call this when all sections have their places and checksums.
  std::array<std::byte, kTableSize> bytes() const {
    GrammarHeader header{};
    std::memcpy(header.magic, kMagic, sizeof header.magic);
    header.version = Grammar::kVersion;
    header.byte_order = kByteOrder;
    header.size = end_;
    header.sections = kSections;
    std::array<std::byte, kTableSize> bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, entries.data(), sizeof entries);
    header.checksum = table_checksum(bytes.data());
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }

 private:
  static size_t aligned(size_t place) { return (place + kAlign - 1) / kAlign * kAlign; }
  size_t end_ = aligned(kTableSize);
};

}  // namespace hopefear
