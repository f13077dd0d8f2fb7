// The display of objects in notebooks, by functions of hopefear.display.
#pragma once
#include "common.h"

namespace hopefear {

inline nb::object shown_by(const char* function, nb::handle self) {
  return nb::module_::import_("hopefear.display").attr(function)(self);
}

}  // namespace hopefear
