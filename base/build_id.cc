#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstring>

namespace base {

namespace {

constexpr std::size_t rounded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

// The build id among the notes of one segment, as hexadecimal digits.
std::string id_in(const char* notes, std::size_t size) {
  constexpr const char* kDigits = "0123456789abcdef";
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const char* name = notes + at + sizeof note;
    const char* bytes = name + rounded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string id;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        id += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      return id;
    }
    at += sizeof note + rounded(note.n_namesz) + rounded(note.n_descsz);
  }
  return "";
}

// The first object that is visited is the program itself.
int visit_program(dl_phdr_info* info, std::size_t, void* found) {
  auto& id = *static_cast<std::string*>(found);
  for (int i = 0; i < info->dlpi_phnum && id.empty(); ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto start = info->dlpi_addr + segment.p_vaddr;
    id = id_in(reinterpret_cast<const char*>(start), segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(visit_program, &id);
  return id;
}

}  // namespace base
