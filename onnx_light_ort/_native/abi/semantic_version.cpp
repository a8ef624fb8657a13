#include "semantic_version.h"

#include <regex>

namespace onnx_light_ort::abi {

bool is_semantic_version(const std::string& text) {
  static const std::regex grammar = [] {
    const std::string number = "(?:0|[1-9][0-9]*)";
    const std::string word = "[0-9]*[A-Za-z-][0-9A-Za-z-]*";
    const std::string identifier = "(?:" + number + "|" + word + ")";
    const std::string release = number + "\\." + number + "\\." + number;
    const std::string pre_release = "(?:-" + identifier + "(?:\\." + identifier + ")*)?";
    const std::string build = "(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?";
    return std::regex(release + pre_release + build);
  }();
  return std::regex_match(text, grammar);
}

}  // namespace onnx_light_ort::abi
