// Constants and types for source sentences that the decoders share.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hopefear {

inline constexpr size_t kMaxLms = 3;  // language models of one decoder

/// The kind of a source word, as found by the model's text pipeline.
enum class WordKind : uint8_t { word, number, name };

/// The letter that stands for a kind: n for a number, c for a name, anything else for other words.
inline WordKind word_kind(char letter) {
  return letter == 'n' ? WordKind::number : letter == 'c' ? WordKind::name : WordKind::word;
}

}  // namespace hopefear
