// SPDX-License-Identifier: Apache-2.0 OR MIT
// ELF and raw files into memories. Anything that does not fit or is torn is refused by name.
#include "image.h"

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <vector>

namespace earlgrey {

namespace {

std::vector<uint8_t> slurp(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw ImageError("cannot read " + path + ": give the path of an existing file");
    std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    if (file.bad())
        throw ImageError("reading " + path + " failed");
    return bytes;
}

std::string hex(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

} // namespace

void load_bytes(Bus &bus, const uint8_t *bytes, size_t length, uint32_t address,
                const std::string &name) {
    for (Storage *storage : {&bus.flash, &bus.sram, &bus.rom})
        if (storage->holds(address)) {
            if (length > storage->size() || !storage->holds(address, static_cast<uint32_t>(length)))
                throw ImageError(name + ": " + std::to_string(length) + " bytes at " +
                                 hex(address) + " run past the end of that memory");
            std::memcpy(storage->data() + (address - storage->base()), bytes, length);
            return;
        }
    throw ImageError(name + ": no memory at " + hex(address) +
                     "; is this an image for Earl Grey (flash from 0x20000000)?");
}

void load_raw(Bus &bus, const std::string &path, uint32_t address) {
    const auto bytes = slurp(path);
    load_bytes(bus, bytes.data(), bytes.size(), address, path);
}

void load_elf(Bus &bus, const std::string &path) {
    const auto bytes = slurp(path);
    Elf32_Ehdr header;
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        throw ImageError(path + " is not an ELF file; for a raw flash image use --flash");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_RISCV)
        throw ImageError(path + " is not a 32-bit RISC-V ELF file");
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf32_Phdr segment;
        const uint64_t at = uint64_t{header.e_phoff} + uint64_t{i} * header.e_phentsize;
        if (header.e_phentsize != sizeof segment || at + sizeof segment > bytes.size())
            throw ImageError(path + ": torn program header");
        std::memcpy(&segment, bytes.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0)
            continue;
        if (uint64_t{segment.p_offset} + segment.p_filesz > bytes.size())
            throw ImageError(path + ": torn segment");
        load_bytes(bus, bytes.data() + segment.p_offset, segment.p_filesz, segment.p_paddr, path);
    }
}

} // namespace earlgrey
