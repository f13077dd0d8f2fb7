// The binary features f(b, o, b') of the block-sequence model (Tillmann and Zhang 2006, section 2), each a 64-bit key that can be
// computed from words alone, so that no dictionary of features is needed to decode.
//
// phrase   block(f..|e..)              the block itself (f_1000)
//          source(f'..|f..)            source phrases of b' and b
//          target(e'..|e..)            target phrases of b' and b
//          orient(o)  orient(o|f..|e..)   orientation L, R or N, alone and with the block; only where blocks can swap
// word     pair(f|e)                   e stands in the target phrase and f in the source phrase (f_1001), once per block
//          ngram(e)  ngram(d,e)  ngram(c,d,e)   target m-grams, m up to 3, with <s> and </s>
//          jump(k)  jump(k|f)  jump(k|f'|)   distortion: b begins k source words behind the end of b' (k other than 0), alone,
//                                      with the first source word of b, with the last of b'; only where blocks can swap
//
// Where the paper leaves room: an m-gram may reach over more than one block to the left (eq. 1 has b'
// only, but a block may be a single word); <s> and </s> are words and blocks of their own; an m-gram that occurs
// twice in a block counts twice.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "util/feature_table.h"
#include "util/vocab.h"

namespace hopefear {

enum class Orientation : uint8_t { left, right, neutral };

struct BlockFeatures {
  bool phrase = true, word = true, swap = true;
};

// ---- keys ----

inline uint64_t mix_key(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 29);
}
/// A phrase word by word; any phrase begins with kPhrase.
inline constexpr uint64_t kPhrase = 0x51ed270b7f4a7c15ULL;
inline uint64_t phrase_add(uint64_t phrase, uint64_t word) { return mix_key((phrase ^ word) * 0x9fb21c651e98df25ULL); }

constexpr uint64_t text_hash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 32);
}

inline uint64_t key_add(uint64_t key, uint64_t phrase) { return mix_key((key + phrase) * 0x9e3779b97f4a7c15ULL); }
/// No key is 0: that marks an empty slot.
inline uint64_t key_end(uint64_t key) { return key ? key : 1; }

/// A phrase of a feature: its hash, and where its words are, for printing.
struct FeaturePart {
  uint64_t hash;
  std::span<const int32_t> words;
  const Vocab* vocab;
  std::string_view text = {};  // or these characters
};

inline FeaturePart literal(std::string_view text) { return {phrase_add(kPhrase, text_hash(text)), {}, nullptr, text}; }

enum class Template : uint8_t { block, source, target, orient, pair, ngram, jump };
inline constexpr std::string_view kTemplateNames[] = {"block", "source", "target", "orient", "pair", "ngram", "jump"};
inline constexpr uint64_t kTemplateKeys[] = {text_hash("block"), text_hash("source"), text_hash("target"), text_hash("orient"),
                                             text_hash("pair"),  text_hash("ngram"),  text_hash("jump")};

/// The key of a feature: its template, then its phrases.
template <class... Phrases>
uint64_t feature_key(Template t, Phrases... phrases) {
  uint64_t key = kTemplateKeys[static_cast<size_t>(t)];
  ((key = key_add(key, phrases)), ...);
  return key_end(key);
}

/// The key of a name: template(phrase|phrase), with commas between the words of a phrase, or a name without a template (lm).
uint64_t feature_key(std::string_view name);
/// `name value` lines, as Run writes them, into a table; the templates and other names (lm) that have a weight other than 0. For files of
/// tens of millions of lines: names are not stored.
std::shared_ptr<FeatureTable> read_feature_table(const std::string& path, std::set<std::string>& templates);
/// A word as names write it: ( ) , % = | and blanks as %XX.
void append_escaped(std::string& name, std::string_view word);

// ---- which features there are ----

inline constexpr int32_t kBosWord = -1;  // <s> in the history of target words
inline constexpr int32_t kNothing = -2;  // before <s>
inline constexpr int32_t kEosWord = -3;  // </s>
inline constexpr int kLongestJump = 16;  // longer jumps count as this one

/// A block and the source words that it covers.
struct BlockView {
  std::span<const int32_t> source, target;  // words
  uint64_t source_hash, target_hash;        // of the phrases
  int32_t begin, end;                       // source words [begin, end)
};

/// Calls sink(template, phrases ...) for each feature; each phrase is a FeaturePart. `Words` tells the hash of a word.
template <class Words, class Sink>
class FeatureEmitter {
 public:
  FeatureEmitter(const Words& words, BlockFeatures which, Sink& sink) : words_(words), which_(which), sink_(sink) {}

  /// f_1000 and f_1001: the features of a bag of blocks.
  void identity(const BlockView& b) {
    if (which_.phrase) sink_(Template::block, source(b), target(b));
    if (which_.word)
      for (size_t i = 0; i < b.source.size(); ++i) {
        if (repeated(b.source, i)) continue;
        const FeaturePart f{phrase_add(kPhrase, words_.source(b.source[i])), b.source.subspan(i, 1), words_.source_vocab()};
        for (size_t j = 0; j < b.target.size(); ++j)
          if (!repeated(b.target, j))
            sink_(Template::pair, f,
                  FeaturePart{phrase_add(kPhrase, words_.target(b.target[j])), b.target.subspan(j, 1), words_.target_vocab()});
      }
  }

  /// The features that depend on the block alone.
  void inside(const BlockView& b) {
    identity(b);
    if (which_.word)
      for (size_t j = 0; j < b.target.size(); ++j) {
        uint64_t gram = kPhrase;
        for (size_t n = 1; n <= 3 && j + n <= b.target.size(); ++n) {
          gram = phrase_add(gram, words_.target(b.target[j + n - 1]));
          sink_(Template::ngram, FeaturePart{gram, b.target.subspan(j, n), words_.target_vocab()});
        }
      }
  }

  /// The features that need b' as well. c and d are the two target words before the block; `before` is null at the start.
  void between(const BlockView* before, int32_t c, int32_t d, const BlockView& b, Orientation o, int32_t jump) {
    if (which_.phrase) {
      sink_(Template::target, before ? target(*before) : literal("<s>"), target(b));
      sink_(Template::source, before ? source(*before) : literal("<s>"), source(b));
      if (which_.swap) {
        const FeaturePart side = literal(o == Orientation::left ? "L" : o == Orientation::right ? "R" : "N");
        sink_(Template::orient, side);
        sink_(Template::orient, side, source(b), target(b));
      }
    }
    if (which_.word) {
      const int32_t gram[] = {c, d, b.target[0], b.target.size() > 1 ? b.target[1] : 0};
      grams(gram, b.target.size() > 1);
      if (which_.swap && jump != 0) jumps(before, b, jump);
    }
  }

  void end(const BlockView* before, int32_t c, int32_t d) {
    if (which_.phrase) {
      sink_(Template::target, before ? target(*before) : literal("<s>"), literal("</s>"));
      sink_(Template::source, before ? source(*before) : literal("<s>"), literal("</s>"));
    }
    if (which_.word) {
      const int32_t gram[] = {c, d, kEosWord, 0};
      grams(gram, false);
    }
  }

 private:
  static bool repeated(std::span<const int32_t> words, size_t i) {
    for (size_t k = 0; k < i; ++k)
      if (words[k] == words[i]) return true;
    return false;
  }
  FeaturePart source(const BlockView& b) const { return {b.source_hash, b.source, words_.source_vocab()}; }
  FeaturePart target(const BlockView& b) const { return {b.target_hash, b.target, words_.target_vocab()}; }

  /// d e, c d e, and d e e2.
  void grams(const int32_t* gram, bool two) {
    const uint64_t d = words_.target(gram[1]), e = words_.target(gram[2]);
    const uint64_t de = phrase_add(phrase_add(kPhrase, d), e);
    sink_(Template::ngram, FeaturePart{de, {gram + 1, 2}, words_.target_vocab()});
    if (gram[0] != kNothing)
      sink_(Template::ngram,
            FeaturePart{
                phrase_add(phrase_add(phrase_add(kPhrase, words_.target(gram[0])), d), e), {gram, 3}, words_.target_vocab()});
    if (two) sink_(Template::ngram, FeaturePart{phrase_add(de, words_.target(gram[3])), {gram + 1, 3}, words_.target_vocab()});
  }

  void jumps(const BlockView* before, const BlockView& b, int32_t jump) {
    static constexpr const char* kNames[] = {"-16", "-15", "-14", "-13", "-12", "-11", "-10", "-9", "-8", "-7", "-6",
                                             "-5",  "-4",  "-3",  "-2",  "-1",  "0",   "1",   "2",  "3",  "4",  "5",
                                             "6",   "7",   "8",   "9",   "10",  "11",  "12",  "13", "14", "15", "16"};
    const FeaturePart k = literal(kNames[std::min(kLongestJump, std::max(-kLongestJump, jump)) + kLongestJump]);
    sink_(Template::jump, k);
    sink_(Template::jump, k,
          FeaturePart{phrase_add(kPhrase, words_.source(b.source[0])), b.source.first(1), words_.source_vocab()});
    if (before)
      sink_(Template::jump, k,
            FeaturePart{phrase_add(kPhrase, words_.source(before->source.back())), before->source.last(1), words_.source_vocab()},
            FeaturePart{kPhrase, {}, words_.source_vocab()});
  }

  const Words& words_;
  const BlockFeatures which_;
  Sink& sink_;
};

/// Sink: passes keys to a callable.
template <class Take>
struct KeySink {
  Take take;
  template <class... Parts>
  void operator()(Template t, const Parts&... parts) {
    take(feature_key(t, parts.hash...));
  }
};
template <class Take>
KeySink(Take) -> KeySink<Take>;

/// Sink: passes keys and names to a callable; the name is a function, because most callers know the key already.
template <class Take>
struct NameSink {
  Take take;
  template <class... Parts>
  void operator()(Template t, const Parts&... parts) {
    take(feature_key(t, parts.hash...), [&] {
      std::string name(kTemplateNames[static_cast<size_t>(t)]);
      char before = '(';
      ((name += before, before = '|', append_part(name, parts)), ...);
      return name + ")";
    });
  }
  static void append_part(std::string& name, const FeaturePart& part) {
    append_escaped(name, part.text);
    for (size_t i = 0; i < part.words.size(); ++i) {
      if (i > 0) name += ',';
      const int32_t word = part.words[i];
      if (word == kBosWord)
        name += "<s>";
      else if (word == kEosWord)
        name += "</s>";
      else
        append_escaped(name, (*part.vocab)[word]);
    }
  }
};
template <class Take>
NameSink(Take) -> NameSink<Take>;

}  // namespace hopefear
