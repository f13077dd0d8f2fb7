#include <cstdlib>

#include "common.h"
#include "util/error.h"

namespace hopefear {
void init_forest(nb::module_&);
void init_pool(nb::module_&);
void init_algorithms(nb::module_&);
void init_metrics(nb::module_&);
void init_formats(nb::module_&);
void init_trainers(nb::module_&);
void init_language_model(nb::module_&);
void init_extraction(nb::module_&);
void init_grammar(nb::module_&);
void init_decoder(nb::module_&);
void init_blocks(nb::module_&);
void init_online(nb::module_&);
}  // namespace hopefear

NB_MODULE(_core, m) {
  // Objects in caches outlive the interpreter: no harm, and nothing that a user should read after a command's output.
  nb::set_leak_warnings(std::getenv("HOPEFEAR_DEBUG") != nullptr);
  m.doc() = "The compiled core of hopefear. Private: import hopefear instead.";
  nb::exception<hopefear::InputError>(m, "InputError", PyExc_ValueError);
  hopefear::init_forest(m);
  hopefear::init_pool(m);
  hopefear::init_metrics(m);
  hopefear::init_algorithms(m);
  hopefear::init_formats(m);
  hopefear::init_trainers(m);
  hopefear::init_language_model(m);
  hopefear::init_extraction(m);
  hopefear::init_grammar(m);
  hopefear::init_online(m);
  hopefear::init_decoder(m);
  hopefear::init_blocks(m);
}
