#include "common.h"

namespace hopefear {

void init_algorithms(nb::module_&) {}

}  // namespace hopefear
