// Surface features of a candidate, alone and compared with its source. They need no model.
//
//   words       |e|, the number of words                          ratio     |e| / max(1, |f|)
//   gap         | |e| - mean of |e'| over the list |
//   repeat_1    words that repeat the word before them            repeat_2, repeat_3   n-grams that occurred in e before
//   marks       words without a letter or digit                   final     1 if the last word ends in . ? or !
//   brackets    unbalanced brackets and quotation marks
//   compared with the source:
//   mark_gap    | marks(e) - marks(f) |
//   numbers     words with a digit that only one side has, each as often as it is missing
//   names       words of f with a capital, except for the first word, that e does not have
//   copies      words of e with two or more letters that f has too
#pragma once
#include <string>
#include <vector>

#include "forest/pool.h"

namespace hopefear {

inline const std::vector<std::string> kTextColumns{"words",    "gap",   "repeat_1", "repeat_2",
                                                   "repeat_3", "marks", "final",    "brackets"};
inline const std::vector<std::string> kSourceColumns{"ratio", "mark_gap", "numbers", "names", "copies"};

/// The features of every row of a pool of lists: those of the text, then those compared with the pool's sources.
std::vector<double> shallow_columns(const Pool& pool, int jobs);

}  // namespace hopefear
