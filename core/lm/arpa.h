// Language models as ARPA files, by this or any other toolkit.
//
// Read: fields split by any run of spaces or tabs; text before \data\ skipped; a back-off weight that is missing is 0 (as log10). <unk>,
// where the file has none (nor <UNK>), gets -100, </s> likewise, <s> -99. -inf becomes -100. An n-gram whose beginning or end is not in
// the file (SRILM drops such) gets them added, with the values that they have anyhow: no probability changes.
// Write: the shortest decimals that read back to the same bits.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "lm/backoff_model.h"

namespace hopefear {

/// `name` is for messages: "name:line: finding. cure".
BackoffModel read_arpa(std::string_view text, const std::string& name);

/// The text in pieces of about a megabyte, to write(piece).
void write_arpa(const BackoffModel& model, const std::function<void(std::string_view)>& write);

}  // namespace hopefear
