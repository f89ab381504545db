// SPDX-License-Identifier: Apache-2.0
#include "report/schedule_streamed.hpp"

namespace vlag {

void schedule_stream::visit(const trace::event& e) {
  if (!is_told(e.kind)) return;
  if (!telling_) {
    first_ns_ = e.time_ns;
    telling_.emplace(about_.strings, first_ns_, sink_);
    schedule_info info;
    info.label = "recorded";
    info.cpus = 0;
    info.clock_at_start_ns = first_ns_;
    sink_.begin(info);
  }
  if (e.kind == trace::event_kind::waking && !has_waking_) {
    has_waking_ = true;
    sink_.on_wait_begins(wakeup_kind::waking);
  }
  last_ns_ = e.time_ns;
  telling_->tell(e);
}

void schedule_stream::finish() {
  if (telling_) sink_.end(last_ns_ - first_ns_);
}

}  // namespace vlag
