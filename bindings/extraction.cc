#include "common.h"

namespace hopefear {

void init_extraction(nb::module_&) {}

}  // namespace hopefear
