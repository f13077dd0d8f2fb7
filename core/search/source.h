// What the decoders have in common in how they see a source sentence and their models.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hopefear {

inline constexpr size_t kMaxLms = 3;  // language models of one decoder

/// What a word of the source is, besides being a word (Model's text pipeline tells).
enum class WordKind : uint8_t { word, number, name };

/// The letter that stands for a kind: n for a number, c for a name, anything else for other words.
inline WordKind word_kind(char letter) {
  return letter == 'n' ? WordKind::number : letter == 'c' ? WordKind::name : WordKind::word;
}

}  // namespace hopefear
