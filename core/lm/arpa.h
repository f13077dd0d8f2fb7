// Language models as ARPA files, by this or any other toolkit.
//
// Read: fields split by any run of spaces or tabs; text before \data\ skipped; a missing back-off weight is 0 (as log10). <unk>,
// if the file has none (nor <UNK>), gets -100, </s> likewise, <s> -99. -inf becomes -100. If the beginning or end of an n-gram is not
// in the file (SRILM drops some), it is added with the values that backing off gives: no probability changes.
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
