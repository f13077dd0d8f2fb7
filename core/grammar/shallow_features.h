// What the surface of a candidate says, by itself and beside its source: no model needed.
//
//   words       |e|, the number of words                          ratio     |e| / max(1, |f|)
//   gap         | |e| - mean of |e'| over the list |
//   repeat_1    words that repeat the word before them            repeat_2, repeat_3   n-grams that stood in e before
//   marks       words without a letter or digit                   final     1 if the last word ends in . ? or !
//   brackets    brackets and quotation marks without their partner
//   compared with the source:
//   mark_gap    | marks(e) - marks(f) |
//   numbers     words with a digit that only one side has, each as often as it is missing
//   names       words of f with a capital, the first word aside, that e does not have
//   copies      words of e with two or more letters that f has too
#pragma once
#include <string>
#include <vector>

#include "forest/pool.h"

namespace hopefear {

inline const std::vector<std::string> kTextColumns{"words",    "gap",   "repeat_1", "repeat_2",
                                                   "repeat_3", "marks", "final",    "brackets"};
inline const std::vector<std::string> kSourceColumns{"ratio", "mark_gap", "numbers", "names", "copies"};

/// For every row of a pool of lists the text columns, then those compared with the source; sources are the pool's own.
std::vector<double> shallow_columns(const Pool& pool, int jobs);

}  // namespace hopefear
