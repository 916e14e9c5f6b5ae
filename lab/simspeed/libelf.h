// SPDX-License-Identifier: Apache-2.0 OR MIT
// A stub of libelf for simple_system in simspeed. Its program is a hex file, so the ELF loader is
// compiled but never called.
#pragma once

#include <cstddef>
#include <elf.h>

struct Elf;
enum { ELF_C_READ, ELF_K_ELF };

inline int elf_errno() { return 0; }
inline unsigned elf_version(unsigned) { return EV_NONE; }
inline const char *elf_errmsg(int) { return "built without libelf"; }
inline Elf *elf_begin(int, int, void *) { return nullptr; }
inline int elf_kind(Elf *) { return -1; }
inline int elf_end(Elf *) { return 0; }
inline int elf_getphdrnum(Elf *, size_t *) { return -1; }
inline const Elf32_Phdr *elf32_getphdr(Elf *) { return nullptr; }
inline const char *elf_rawfile(Elf *, size_t *) { return nullptr; }
