// The update that the options select.
#pragma once
#include <memory>

#include "trainers/online/update.h"

namespace hopefear {

std::unique_ptr<Update> make_update(const LearnerOptions& options);

}  // namespace hopefear
