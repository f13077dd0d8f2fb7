#include "common.h"

namespace hopefear {

void init_language_model(nb::module_&) {}

}  // namespace hopefear
