// Files that are part of the program; web/ui/embed.cmake turns them into one source file.
#pragma once

#include <string>

namespace web::ui {

std::string style_css();
std::string live_js();
std::string moon_svg();
std::string openapi_yaml();
std::string version();  // changes whenever one of them does: the end of their URLs

}  // namespace web::ui
