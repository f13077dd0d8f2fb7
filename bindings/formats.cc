#include "common.h"

namespace hopefear {

void init_formats(nb::module_&) {}

}  // namespace hopefear
