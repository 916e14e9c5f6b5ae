// SPDX-License-Identifier: Apache-2.0 OR MIT
// Loads ELF and raw files into memories. Refuses files that do not fit or are incomplete.
#include "image.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <memory>

namespace earlgrey {

namespace {

constexpr size_t kMostBytes = size_t{1} << 28; // per file: debug information may be large

std::vector<uint8_t> slurp(const std::string &path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"),
                                                                std::fclose);
    if (!file)
        throw ImageError("cannot read " + path + ": give the path of an existing file");
    std::vector<uint8_t> bytes;
    uint8_t block[1 << 16];
    while (const size_t count = std::fread(block, 1, sizeof block, file.get())) {
        bytes.insert(bytes.end(), block, block + count);
        if (bytes.size() > kMostBytes)
            throw ImageError(path + " is too large: more than 256 MiB");
    }
    if (std::ferror(file.get()))
        throw ImageError("cannot read " + path + ": " + std::strerror(errno));
    return bytes;
}

std::string hex(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

} // namespace

void load_bytes(Memories &memories, const uint8_t *bytes, size_t length, uint32_t address,
                const std::string &name) {
    for (Storage *storage : {&memories.flash, &memories.sram, &memories.rom})
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

void Loader::raw(const std::string &path, uint32_t address) {
    const auto bytes = slurp(path);
    place(bytes.data(), bytes.size(), address, path);
}

void Loader::place(const uint8_t *bytes, size_t length, uint32_t address, const std::string &path) {
    load_bytes(memories_, bytes, length, address, path);
    const Placed placed{address, uint64_t{address} + length, path};
    for (const Placed &earlier : placed_)
        if (warned_ != path && placed.start < earlier.end && earlier.start < placed.end) {
            const auto first = static_cast<uint32_t>(std::max(placed.start, earlier.start));
            std::fprintf(stderr, "earlgrey-sim: %s overlaps %s at %s: the later one counts\n",
                         path.c_str(), earlier.path.c_str(), hex(first).c_str());
            warned_ = path;
        }
    placed_.push_back(placed);
}

void Loader::elf(const std::string &path) {
    const auto bytes = slurp(path);
    Elf32_Ehdr header;
    if (bytes.size() < sizeof header || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        throw ImageError(path + " is not an ELF file; for a raw flash image use --flash");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_RISCV)
        throw ImageError(path + " is not a 32-bit RISC-V ELF file");
    bool empty = true;
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
        place(bytes.data() + segment.p_offset, segment.p_filesz, segment.p_paddr, path);
        empty = false;
    }
    if (empty)
        throw ImageError(path + " has nothing to load: none of its segments has content");
}

} // namespace earlgrey
