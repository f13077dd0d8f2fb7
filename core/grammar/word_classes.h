// Word classes by exchange (Kneser and Ney 1993): words move, one at a time, to the class that makes the bigrams of a text most likely under
// p(w|v) = p(c(w)|c(v)) p(w|c(w)). Up to what no move changes, the logarithm of this likelihood is
//
//   F = sum of f(N(c,d)) over classes c, d  -  2 sum of f(N(c)) over classes c,      f(n) = n log n
//
// which is also what mkcls maximises for one language (Och 1999). N(c,d) counts bigrams, N(c) words. Sentences begin and end with a boundary, which is alone
// in a class that it never leaves. f is rounded to multiples of 2^-20: sums are exact, so that nothing depends on their order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hopefear {

/// The class of each word below `types`, from 0; -1 for words that do not occur. Sentence i is words[begin[i] .. begin[i+1]).
/// The words are taken by falling frequency (of two that are equal the lower id); at first the n-th is in class n modulo `classes`. A word moves if that is
/// strictly better, to the first of the best classes. Ends after `rounds` over all words, or when none moves.
std::vector<int32_t> word_classes(std::span<const int32_t> words, std::span<const int64_t> begin, int32_t types, int32_t classes,
                                  int rounds);

}  // namespace hopefear
