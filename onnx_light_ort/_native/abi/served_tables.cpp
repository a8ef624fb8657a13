#include "served_tables.h"

#include <atomic>

#include "tables.h"

namespace onnx_light_ort::abi {
namespace {

std::atomic<ServedFlavour> served{ServedFlavour::kPlain};

template <class Table>
const Table* served_table() noexcept {
  switch (served.load(std::memory_order_relaxed)) {
    case ServedFlavour::kTrace:
      return table<Table, Trace>();
    case ServedFlavour::kStrict:
      return table<Table, Strict>();
    case ServedFlavour::kPlain:
      break;
  }
  return table<Table, Plain>();
}

}  // namespace

void serve(ServedFlavour flavour) noexcept { served.store(flavour, std::memory_order_relaxed); }

const OrtApiBase* served_api_base() noexcept { return served_table<OrtApiBase>(); }

const OrtApi* served_api() noexcept { return served_table<OrtApi>(); }

}  // namespace onnx_light_ort::abi
