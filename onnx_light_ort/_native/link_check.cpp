// Links all tables of all flavours, so that a slot without a body is found when the host is built. Run, it says whether
// the tables are there.
#include "tables.h"

int main() {
  using namespace onnx_light_ort::abi;
  return api_base<Plain>() != nullptr && api_base<Trace>() != nullptr && api_base<Strict>() != nullptr ? 0 : 1;
}
