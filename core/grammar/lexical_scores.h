// How well the words of a source and of a candidate explain each other, by the word translations of a grammar.
//
// t(e|f) and t(f|e) are the lexical weights of the rules f -> e with one word on each side; a word that the grammar does not know
// has t = 1 for itself. kFloor is the probability of all other pairs and of words without a source.
//
//   ef         sum over e of log(kFloor + 1/|f| sum over f of t(e|f))     IBM model 1; fe: the same from e to f
//   ef_best    sum over e of log max(kFloor, max over f of t(e|f))       its best alignment; fe_best: the same from e to f
//   no_target  source words f without an e with t(e|f) >= kLink          coverage
//   no_source  candidate words e without an f with t(f|e) >= kLink
//   fertility  the most words e that have the same f as their best, less 1
//   jumps      mean of |a_j - a_(j-1) - 1| over words e_j with links, a_j being the place of their best f
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "forest/pool.h"
#include "grammar/grammar.h"
#include "joint/joint_model.h"

namespace hopefear {

inline const std::vector<std::string> kLexicalColumns{"ef",        "fe",        "ef_best",   "fe_best",
                                                      "no_target", "no_source", "fertility", "jumps"};

/// The scores of every row of a pool of lists. Words of the pool and of `sources`, one line per sentence, are spelt as in the grammar.
std::vector<double> lexical_columns(const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar, int jobs);

/// The log probability of each row by a joint model. A word is affiliated with its best f if t(e|f) >= kLink, else as the nearest
/// such word is, of two the one to the right.
std::vector<double> joint_column(const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar,
                                 const JointModel& joint, int jobs);

}  // namespace hopefear
