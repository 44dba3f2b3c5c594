#include "web/api/html.h"

#include <catch2/catch.hpp>

#include "web/api/views.h"
#include "web/api/widgets.h"

namespace web {

TEST_CASE("text is escaped, markup of ours is not") {
  CHECK(html("<b>{}</b>", "<i> & \"x\" 'y'").text() ==
        "<b>&lt;i&gt; &amp; &quot;x&quot; &#39;y&#39;</b>");
  CHECK(html("{}{}", html("<i>{}</i>", 3), std::string("<")).text() == "<i>3</i>&lt;");
  CHECK(html("{}", 0.5).text() == "0.5");
  CHECK(html("{}", std::nan("")).text() == "–");
  // Braces in an argument are no holes.
  CHECK(html("{}{}", "{}", 1).text() == "{}1");
}

TEST_CASE("text of several lines becomes paragraphs and lists") {
  CHECK(prose("").text().empty());
  CHECK(prose("one <line>").text() == "<p>one &lt;line&gt;</p>");
  CHECK(prose("head:\n- a\n- b\n\ntail\n").text() ==
        "<p>head:</p><ul><li>a</li><li>b</li></ul><p>tail</p>");
}

TEST_CASE("numbers, times and durations read well") {
  CHECK(duration_text(0.42) == "420 ms");
  CHECK(duration_text(4.26) == "4.3 s");
  CHECK(duration_text(59.9) == "1 min");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(3900) == "1 h 05 min");
  CHECK(duration_text(-1) == "–");
  CHECK(number_text(18240, "ns") == "18,240 ns");
  CHECK(number_text(-1234567, "1") == "-1,234,567");
  CHECK(number_text(-123456, "1") == "-123,456");
  CHECK(number_text(0.25, "") == "0.25");
  CHECK(number_text(std::nan(""), "ns") == "–");
  CHECK(time_text({1'764'540'000'000}) == "2025-11-30 22:00 UTC");
  CHECK(time_text({}).empty());
  CHECK(percent_text(std::log(0.6)) == "−40%");
  CHECK(percent_text(std::log(1.031)) == "+3.1%");
  CHECK(percent_text(std::log(2.5)) == "2.50x");
  CHECK(percent_text(0) == "0%");
}

TEST_CASE("plots stay whole with values that are none") {
  hypotheses::Evidence evidence;
  evidence.effect = std::nan("");
  evidence.low = -std::numeric_limits<double>::infinity();
  evidence.high = std::numeric_limits<double>::infinity();
  const std::string bar =
      effect_bar(effect_of(evidence), "inconclusive", reach_of(effect_of(evidence))).text();
  CHECK(bar.find("nan") == std::string::npos);
  CHECK(bar.find("inf\"") == std::string::npos);
  hypotheses::Hypothesis hypothesis;
  hypothesis.evidence = evidence;
  CHECK(effect_chart(hypothesis).text().find("=\"nan") == std::string::npos);
  CHECK(pair_plot({}, {}).empty());
}

}  // namespace web
