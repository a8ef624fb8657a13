// The execution provider of one session.
#pragma once

#include "claim_rule.h"
#include "ep_factory.h"

namespace onnx_light_ort::reverse {

/// Takes single nodes, whose kernels the runtime finds in the factory's registry. Compiles nothing.
class Ep : public OrtEp {
 public:
  /// `factory` outlives the EP.
  Ep(EpFactory& factory, const ClaimRule& rule);

 private:
  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* support);
  bool takes(const OrtNode* node) const;

  EpFactory& factory_;
  const ClaimRule rule_;
};

}  // namespace onnx_light_ort::reverse
