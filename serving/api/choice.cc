#include "serving/api/choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace serving {
namespace {

// For the step that ends a cancelled answer, which says how much of the prompt was cached.
constexpr std::chrono::milliseconds kCancelWait{200};

template <class T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Delta::append(Delta other) {
  text += other.text;
  move_to_end(tokens, other.tokens);
  move_to_end(logprobs, other.logprobs);
  finish = other.finish;
}

Choice::Choice(std::unique_ptr<Answer> answer, const Tokenizer& tokenizer,
               std::vector<std::string> stops, bool logprobs)
    : answer_(std::move(answer)),
      decoder_(tokenizer.decoder()),
      filter_(std::move(stops)),
      logprobs_(logprobs) {}

std::optional<Delta> Choice::next(std::chrono::milliseconds wait) {
  auto step = answer_->next(wait);
  if (!step) return std::nullopt;
  cached_tokens_ = std::max(cached_tokens_, step->cached_tokens);
  Delta delta;
  if (step->token) {
    ++tokens_;
    delta.tokens = {*step->token};
    if (logprobs_) delta.logprobs = {{*step->token, step->logprob, std::move(step->top)}};
    delta.text = filter_.add(decoder_->add(*step->token));
  }
  delta.finish = step->finish;
  if (step->finish != Finish::none) {
    delta.text += filter_.add(decoder_->finish());
    delta.text += filter_.finish();
  }
  if (filter_.stopped()) {
    if (step->finish == Finish::none) stop_engine();
    delta.finish = Finish::stop;
  }
  finished_ = delta.finish != Finish::none;
  return delta;
}

void Choice::stop_engine() {
  answer_->cancel();
  while (auto step = answer_->next(kCancelWait)) {
    cached_tokens_ = std::max(cached_tokens_, step->cached_tokens);
    if (step->finish != Finish::none) return;
  }
}

}  // namespace serving
