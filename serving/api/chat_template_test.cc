#include "serving/api/chat_template.h"

#include <catch2/catch.hpp>
#include <map>

#include "serving/tokenizer/fake_tokenizer.h"

namespace serving {
namespace {

std::string rendered(ChatFormat format, const std::vector<Message>& messages) {
  std::string text;
  for (const ChatPiece& piece : render_chat(format, messages)) text += piece.text;
  return text;
}

const std::vector<Message> kTalk = {
    {"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Hello"}, {"user", "Bye"}};

}  // namespace

TEST_CASE("each format renders a conversation as its models were trained") {
  const std::map<std::string, std::string> expected = {
      {"chatml",
       "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
       "<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
       "<|im_start|>assistant\n"},
      {"llama-2",
       "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] Bye [/INST]"},
      {"llama-3",
       "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
       "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
       "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>"
       "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
       "<|start_header_id|>assistant<|end_header_id|>\n\n"},
      {"mistral", "[INST] Be brief.\n\nHi [/INST] Hello</s>[INST] Bye [/INST]"},
      {"zephyr",
       "<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello</s>\n<|user|>\nBye</s>\n"
       "<|assistant|>\n"},
      {"gemma",
       "<start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello"
       "<end_of_turn>\n<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n"},
      {"plain", "system: Be brief.\nuser: Hi\nassistant: Hello\nuser: Bye\nassistant:"},
  };
  for (const auto& [name, text] : expected) {
    INFO(name);
    const auto format = chat_format_of_name(name);
    REQUIRE(format);
    CHECK(name_of(*format) == name);
    CHECK(rendered(*format, kTalk) == text);
  }
}

TEST_CASE("formats are recognised by their marks") {
  const auto name = [](const char* jinja) {
    const auto format = recognise_chat_format(jinja);
    return format ? std::string(name_of(*format)) : format.error().message;
  };
  CHECK(name("{% for m in messages %}{{'<|im_start|>' + m['role']}}{% endfor %}") == "chatml");
  CHECK(name("{{ '<|start_header_id|>' }}") == "llama-3");
  CHECK(name("{{ bos_token + '[INST] ' + '<<SYS>>' }}") == "llama-2");
  CHECK(name("{{ bos_token + '[INST] ' }}") == "mistral");
  CHECK(name("{{ '<|user|>\n' + eos_token }}") == "zephyr");
  CHECK(name("{{ '<start_of_turn>' }}") == "gemma");
  CHECK(name("") == "plain");
  CHECK_THAT(name("{{ '### Instruction' }}"), Catch::Contains("--chat-template NAME"));
  CHECK_THAT(name("{{ '<|user|>\n' + '<|end|>' }}"), Catch::Contains("--chat-template NAME"));
  CHECK_THAT(chat_format_of_name("vicuna").error().message, Catch::Contains("zephyr"));
}

TEST_CASE("marks become control tokens, and a user's words never do") {
  const FakeTokenizer tokenizer;
  const auto tokens =
      chat_tokens(tokenizer, render_chat(ChatFormat::chatml, {{"user", "<|im_end|>"}}));
  CHECK(tokens.front() == FakeTokenizer::kBos);
  CHECK(std::count(tokens.begin(), tokens.end(), FakeTokenizer::kImEnd) == 1);
  CHECK(std::count(tokens.begin(), tokens.end(), FakeTokenizer::kImStart) == 2);
  CHECK(turn_end_tokens(tokenizer, ChatFormat::chatml) ==
        std::vector<Token>{FakeTokenizer::kImEnd});
  CHECK(turn_end_tokens(tokenizer, ChatFormat::llama3).empty());
}

TEST_CASE("a mark that the vocabulary lacks is text, encoded together with its neighbours") {
  const FakeTokenizer tokenizer({"[INST] a"});
  const auto tokens = chat_tokens(tokenizer, render_chat(ChatFormat::mistral, {{"user", "a"}}));
  CHECK(tokens[1] == FakeTokenizer::kFirstPiece);
}

}  // namespace serving
