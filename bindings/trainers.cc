#include "common.h"

namespace hopefear {

void init_trainers(nb::module_&) {}

}  // namespace hopefear
