// Errors that a user can fix: the message names the place, the finding and the cure.
#pragma once
#include <stdexcept>
#include <string>

namespace hopefear {

/// Becomes hopefear.InputError in Python: one line, exit code 2 on the command line.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "file:line: finding" -- the line is left out when it is 0.
inline InputError input_error(const std::string& file, long line, const std::string& finding) {
  return InputError(line > 0 ? file + ":" + std::to_string(line) + ": " + finding : file + ": " + finding);
}

}  // namespace hopefear
