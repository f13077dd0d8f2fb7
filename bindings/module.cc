#include <cstdlib>
#include <exception>
#include <string_view>

#include "common.h"
#include "search/stop.h"
#include "source_digest.h"
#include "util/error.h"

namespace hopefear {
void init_forest(nb::module_&);
void init_pool(nb::module_&);
void init_algorithms(nb::module_&);
void init_metrics(nb::module_&);
void init_formats(nb::module_&);
void init_csv_columns(nb::module_&);
void init_reparameterize(nb::module_&);
void init_lists(nb::module_&);
void init_mert(nb::module_&);
void init_kbmira(nb::module_&);
void init_cmira(nb::module_&);
void init_pro(nb::module_&);
void init_losses(nb::module_&);
void init_rampion(nb::module_&);
void init_minrisk(nb::module_&);
void init_perceptron(nb::module_&);
void init_smo(nb::module_&);
void init_language_model(nb::module_&);
void init_joint(nb::module_&);
void init_extraction(nb::module_&);
void init_grammar(nb::module_&);
void init_decoder(nb::module_&);
void init_blocks(nb::module_&);
void init_online(nb::module_&);
void init_evidence(nb::module_&);
void init_forced(nb::module_&);
void init_consensus(nb::module_&);
}  // namespace hopefear

namespace {

/// An error of the user is hopefear.errors.InputError. A message may quote bytes of a damaged file that are not UTF-8.
void say_input_error(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const hopefear::InputError& error) {
    const std::string_view text = error.what();
    const nb::object message =
        nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
    PyErr_SetObject(nb::module_::import_("hopefear.errors").attr("InputError").ptr(), message.ptr());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  // Objects in caches outlive the interpreter. This is harmless, and users should not see a warning after a command's output.
  nb::set_leak_warnings(std::getenv("HOPEFEAR_DEBUG") != nullptr);
  m.attr("sources") = HOPEFEAR_SOURCES;
  m.doc() = "The compiled core of hopefear. Private: import hopefear instead.";
  nb::register_exception_translator(say_input_error);
  hopefear::init_forest(m);
  hopefear::init_pool(m);
  hopefear::init_metrics(m);
  hopefear::init_algorithms(m);
  hopefear::init_formats(m);
  hopefear::init_csv_columns(m);
  hopefear::init_reparameterize(m);
  hopefear::init_lists(m);
  hopefear::init_mert(m);
  hopefear::init_kbmira(m);
  hopefear::init_cmira(m);
  hopefear::init_pro(m);
  hopefear::init_losses(m);
  hopefear::init_rampion(m);
  hopefear::init_minrisk(m);
  hopefear::init_perceptron(m);
  hopefear::init_smo(m);
  hopefear::init_language_model(m);
  hopefear::init_joint(m);
  hopefear::init_extraction(m);
  hopefear::init_grammar(m);
  hopefear::init_online(m);
  hopefear::init_decoder(m);
  hopefear::init_blocks(m);
  hopefear::init_evidence(m);
  hopefear::init_forced(m);
  hopefear::init_consensus(m);
  m.def(
      "stop_decoding", [](bool stop) { hopefear::stop_decoding = stop; }, nb::arg("stop"),
      "All decoding of this process ends with an InputError, until this is called with False.");
}
