// Damaged files for the readers of the core, without Python, so that millions can be tried under sanitizers: bench/fuzz.py --native.
//
//   fuzz_readers FOLDER SECONDS SEED
//
// FOLDER has a good file of each format, by the names of tests/fuzzing.py. A reader must answer with a result or with InputError. An input
// that a sanitizer objects to is left in FOLDER/found. Checksums are made anew where there are some, to see what is behind them.
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "forest/viterbi.h"
#include "formats/csv_columns.h"
#include "formats/forest_file.h"
#include "formats/forest_reader.h"
#include "formats/nbest_reader.h"
#include "formats/write_nbest.h"
#include "grammar/grammar.h"
#include "grammar/grammar_file.h"
#include "grammar/grammar_text.h"
#include "grammar/parallel_text.h"
#include "lm/arpa.h"
#include "lm/language_model.h"
#include "util/random.h"

using namespace hopefear;

namespace {

std::string folder, input;

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void keep_input() { write_file(folder + "/found", input); }

/// Looks at everything that a reader made.
void touch(const Pool& pool) {
  const std::vector<double> w(static_cast<size_t>(pool.features->size()), 1.0);
  for (size_t i = 0; i < pool.size(); ++i) {
    const Forest& f = pool.sentences[i].forest;
    validate(f, "forest");
    if (f.edges() > 0) viterbi(f, w.data());
    std::string out;
    if (f.is_list() && pool.number_names.empty()) append_nbest(out, pool, i, NbestFormat::moses, w.data());
  }
}

/// In two pieces, wherever they meet.
template <class Reader>
void feed(Reader& reader, std::string_view text) {
  const size_t cut = text.size() / 3;
  reader.feed(text.substr(0, cut));
  reader.feed(text.substr(cut));
  reader.end_file();
  reader.finish();
}

std::function<void()> list(NbestReader::Format format) {
  return [format] {
    for (const bool stream : {false, true}) {
      NbestReader reader(false, stream);
      reader.begin_file("file", format);
      feed(reader, input);
      Pool pool;
      reader.collect(pool);
      if (!stream) touch(pool);
    }
  };
}

std::function<void()> forests(ForestReader::Format format) {
  return [format] {
    ForestReader reader;
    reader.begin_file("file", format, 0);
    feed(reader, input);
    Pool pool;
    reader.collect(pool);
    touch(pool);
  };
}

void native() {
  const auto copy = std::shared_ptr<char>(static_cast<char*>(::operator new(input.size() + 1, std::align_val_t{64})),
                                          [](char* p) { ::operator delete(p, std::align_val_t{64}); });
  std::memcpy(copy.get(), input.data(), input.size());
  touch(forest_file_pool(copy.get(), input.size(), copy, "file", false));
}

void ask(const LanguageModel& model) {
  model.score_text("a b x a ü", true, true);
  write_arpa(model.lists(), [](std::string_view) {});
}

void arpa() { ask(LanguageModel::build(read_arpa(input, "file"))); }

/// The header is that of the good file; without verify, nothing else has a checksum.
std::function<void()> lm(const std::string& good) {
  return [&good] {
    input.resize(good.size());
    input.replace(0, 512, good, 0, 512);
    write_file(folder + "/input", input);
    ask(LanguageModel::open(folder + "/input", false));
  };
}

void grammar() {
  auto* bytes = reinterpret_cast<std::byte*>(input.data());
  if (input.size() >= kTableSize) {
    GrammarHeader header;
    std::memcpy(&header, bytes, sizeof header);
    for (size_t i = 0; i < kSections; ++i) {
      SectionEntry entry;
      std::byte* place = bytes + sizeof header + i * sizeof entry;
      std::memcpy(&entry, place, sizeof entry);
      if (entry.offset > input.size() || entry.size > input.size() - entry.offset) continue;
      entry.checksum = checksum(std::span<const std::byte>(bytes + entry.offset, entry.size));
      std::memcpy(place, &entry, sizeof entry);
    }
    header.size = input.size();
    std::memcpy(bytes, &header, sizeof header);
    header.checksum = table_checksum(bytes);
    std::memcpy(bytes, &header, sizeof header);
  }
  write_file(folder + "/input", input);
  const auto open = Grammar::open(folder + "/input", true, 1);
  const RuleTable table = open->table();
  grammar_text(table, 0, table.sides());
}

void rules() {
  GrammarTextReader reader;
  long number = 0;
  for (size_t at = 0; at < input.size();) {
    const size_t stop = std::min(input.find('\n', at), input.size());
    reader.add(std::string_view(input).substr(at, stop - at), "file", ++number);
    at = stop + 1;
  }
  Grammar::build(reader.finish(1), 1);
}

void table() {
  CsvColumns columns(',', {1});
  columns.feed(std::string_view(input).substr(0, input.size() / 2));
  columns.feed(std::string_view(input).substr(input.size() / 2));
  columns.finish();
}

void links() {
  ParallelText text;
  text.add("a b c", "a b");
  text.add_pharaoh(input, "file", 1);
}

const std::string kPieces[] = {"|||",
                               " ||| ",
                               "nan",
                               "-inf",
                               "1e999",
                               "99999999999999999999",
                               "-1",
                               "2147483648",
                               "=",
                               "\xff",
                               "\xed\xa0\x80",
                               "\r",
                               "\n",
                               "{",
                               "}",
                               "[",
                               "]",
                               "(",
                               ")",
                               "\"",
                               "\\",
                               "\\u",
                               "null",
                               "true",
                               ",",
                               ":",
                               "0",
                               "[X,1]",
                               "\t\t",
                               " ",
                               "J=0",
                               "I=0",
                               std::string(1, '\0')};

/// The data with one to five wounds, as tests/fuzzing.py makes them.
std::string mutated(std::string data, Random& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(n)); };
  for (size_t wounds = 1 + below(5); wounds > 0; --wounds) {
    const size_t longest[] = {1, 4, 20, 1000};
    const size_t i = below(data.size() + 1), count = std::min(below(data.size() - i + 1), longest[below(4)]);
    switch (below(7)) {
      case 0:
        if (i < data.size()) data[i] = static_cast<char>(data[i] ^ (1 << below(8)));
        break;
      case 1: data.erase(i, count); break;
      case 2: data.insert(i, data.substr(i, count)); break;
      case 3: data.replace(i, count, kPieces[below(std::size(kPieces))]); break;
      case 4: data.insert(i, kPieces[below(std::size(kPieces))]); break;
      case 5:
        for (size_t k = i; k < std::min(data.size(), i + below(7)); ++k) data[k] = static_cast<char>(below(256));
        break;
      default:
        if (below(10) < 3) data.erase(i);
    }
  }
  return data;
}

struct Target {
  std::function<void()> read;
  std::vector<std::string> corpus;
  size_t tried = 0, refused = 0;
};

void say_counts(const std::map<std::string, Target>& targets) {
  for (const auto& [name, target] : targets) std::printf("%s\t%zu\t%zu\n", name.c_str(), target.tried, target.refused);
  std::fflush(stdout);
}

}  // namespace

int main(int, char** arguments) {
  folder = arguments[1];
  __sanitizer_set_death_callback(keep_input);
  using L = NbestReader::Format;
  using F = ForestReader::Format;
  const std::string good_lm = read_file(folder + "/lm.bin");
  std::map<std::string, Target> targets;
  for (const char* name : {"moses list", "cdec list", "old list", "marian list"}) targets[name].read = list(L::moses);
  targets["jsonl list"].read = list(L::jsonl);
  targets["json list"].read = list(L::json);
  targets["moses hypergraph"].read = forests(F::moses);
  for (const char* name : {"cdec forest", "travatar forest", "cicada forest"}) targets[name].read = forests(F::json);
  targets["plf"].read = forests(F::plf);
  targets["kaldi lattice"].read = forests(F::kaldi);
  targets["openfst"].read = forests(F::openfst);
  targets["slf"].read = forests(F::slf);
  targets["native"].read = native;
  targets["arpa"].read = arpa;
  targets["lm.bin"].read = lm(good_lm);
  targets["grammar.bin"].read = grammar;
  targets["grammar"].read = rules;
  targets["csv table"].read = table;
  targets["links"].read = links;
  for (auto& [name, target] : targets) target.corpus.push_back(read_file(folder + "/" + name));

  Random random(std::stoull(arguments[3]));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::stod(arguments[2]));
  while (std::chrono::steady_clock::now() < end) {
    ::alarm(300);  // a reader that hangs
    for (auto& [name, target] : targets)
      for (int k = 0; k < 20; ++k) {
        const std::string data = input = mutated(target.corpus[random.below(target.corpus.size())], random);
        if (data.size() > 20'000) continue;
        ++target.tried;
        try {
          target.read();
          if (random.below(5) == 0) {  // go on from what was accepted
            if (target.corpus.size() > 200) target.corpus.erase(target.corpus.begin() + 1);
            target.corpus.push_back(data);
          }
        } catch (const InputError&) {
          ++target.refused;
        } catch (const std::exception& error) {
          keep_input();
          std::printf("%s: %s\n", name.c_str(), error.what());
          return 1;
        }
      }
  }
  say_counts(targets);
  return 0;
}
