# cmake -DOUT=assets.cc -DFILES=a;b -P embed.cmake: writes assets.cc, a function for each file, named
# after it ("style.css" is style_css()).
set(body "")
set(all "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${name})
  file(READ ${file} hex HEX)
  string(APPEND all ${hex})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND body "std::string ${name}() {\n  static constexpr unsigned char kBytes[] = {${bytes}};\n"
    "  return {reinterpret_cast<const char*>(kBytes), sizeof(kBytes)};\n}\n\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 10 hash)
file(WRITE ${OUT} "// Made by web/ui/embed.cmake.\n#include \"web/ui/assets.h\"\n\nnamespace web::ui {\n\n${body}"
  "std::string version() { return \"${hash}\"; }\n\n}  // namespace web::ui\n")
