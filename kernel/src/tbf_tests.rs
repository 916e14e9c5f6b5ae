// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Headers that elf2tab writes, broken headers, and arbitrary bytes.

use super::*;
use proptest::prelude::*;

/// Builds an application: a header with these entries, then bytes of 0xAA up to `total_size`.
pub fn app(entries: &[(u16, Vec<u8>)], total_size: u32, flags: u32) -> Vec<u8> {
    let mut image = vec![0; BASE_SIZE];
    for (kind, value) in entries {
        image.extend(kind.to_le_bytes());
        image.extend((value.len() as u16).to_le_bytes());
        image.extend(value);
        image.resize(image.len().next_multiple_of(4), 0);
    }
    let header_size = image.len();
    image[0..2].copy_from_slice(&2u16.to_le_bytes());
    image[2..4].copy_from_slice(&(header_size as u16).to_le_bytes());
    image[4..8].copy_from_slice(&total_size.to_le_bytes());
    image[8..12].copy_from_slice(&flags.to_le_bytes());
    let sum = checksum(&image);
    image[12..16].copy_from_slice(&sum.to_le_bytes());
    image.resize(total_size as usize, 0xAA);
    image
}

/// The value of an entry that is made of words.
pub fn value(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The entries of an ordinary application.
pub fn usual(name: &str, ram: u32, flash: u32, minimum_ram: u32) -> Vec<(u16, Vec<u8>)> {
    vec![
        (kind::MAIN, value(&[0, 0, minimum_ram])),
        (kind::PACKAGE_NAME, name.as_bytes().to_vec()),
        (kind::FIXED_ADDRESSES, value(&[ram, flash])),
        (kind::KERNEL_VERSION, value(&[2])),
    ]
}

#[test]
fn an_app_is_read() {
    let entries = usual("mem", 0x1000_4000, 0x2003_0080, 4096);
    let image = app(&entries, 512, 1);
    let Ok(Entry::App(header)) = parse(&image) else {
        panic!("not read: {:?}", parse(&image));
    };
    let header_size = u32::from(half(&image, 2).unwrap());
    assert_eq!(header.name, "mem");
    assert_eq!(header.total_size, 512);
    assert_eq!((header.start, header.entry), (header_size, header_size));
    assert_eq!(header.minimum_ram, 4096);
    assert_eq!(header.fixed_ram, Some(0x1000_4000));
    assert_eq!(header.fixed_flash, Some(0x2003_0080));
    assert_eq!(header.kernel_version, Some((2, 0)));
    assert!(header.enabled);
}

#[test]
fn a_program_entry_has_precedence_over_a_main_entry() {
    for swap in [false, true] {
        let mut entries = vec![
            (kind::MAIN, value(&[4, 0, 1])),
            (kind::PROGRAM, value(&[8, 4, 2, 400, 0])),
        ];
        if swap {
            entries.swap(0, 1);
        }
        let image = app(&entries, 512, 1);
        let header_size = u32::from(half(&image, 2).unwrap());
        let Ok(Entry::App(header)) = parse(&image) else {
            panic!("not read");
        };
        assert_eq!(header.entry, header_size + 8);
        assert_eq!(header.start, header_size + 4);
        assert_eq!(header.minimum_ram, 2);
    }
}

#[test]
fn erased_flash_ends_the_list() {
    assert_eq!(parse(&[0xFF; 64]), Ok(Entry::End));
    assert_eq!(parse(&[0; 64]), Ok(Entry::End));
    assert_eq!(parse(&[0, 0xFF, 0xFF, 0xFF, 0xFF]), Ok(Entry::End));
    assert_eq!(parse(&[]), Ok(Entry::End));
}

#[test]
fn a_header_without_a_program_is_padding() {
    assert_eq!(parse(&app(&[], 2048, 0)), Ok(Entry::Padding(2048)));
    let least = BASE_SIZE as u32; // the application is only a header
    assert_eq!(parse(&app(&[], least, 0)), Ok(Entry::Padding(least)));
}

#[test]
fn a_disabled_app_is_read_as_disabled() {
    let image = app(&usual("off", 0, 0, 0), 256, 0);
    assert!(matches!(parse(&image), Ok(Entry::App(header)) if !header.enabled));
}

#[test]
fn every_single_flipped_bit_of_a_header_is_noticed() {
    let image = app(&usual("flip", 0x1000_4000, 0x2003_0080, 64), 256, 1);
    let header_size = usize::from(half(&image, 2).unwrap());
    for bit in 0..header_size * 8 {
        let mut bad = image.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(parse(&bad).is_err(), "bit {bit}");
    }
}

#[test]
fn an_entry_that_does_not_fit_is_refused() {
    let whole = app(&usual("cut", 0, 0, 0), 512, 1);
    assert_eq!(parse(&whole[..508]), Err(Error::Size), "longer than flash");
    let outside = app(&[(kind::MAIN, value(&[4096, 0, 0]))], 512, 1);
    assert_eq!(parse(&outside), Ok(Entry::Unusable(512, Error::Entry)));
    let wrapped = app(&[(kind::MAIN, value(&[0, u32::MAX, 0]))], 512, 1);
    assert_eq!(parse(&wrapped), Ok(Entry::Unusable(512, Error::Entry)));
    for field in 0..2 {
        let mut offsets = [0; 3];
        for (offset, is_inside) in [(479, true), (480, false)] {
            offsets[field] = offset; // counted from the end of a header of 32 bytes
            let parsed = app(&[(kind::MAIN, value(&offsets))], 512, 1);
            let is_app = matches!(parse(&parsed), Ok(Entry::App(_)));
            assert_eq!(is_app, is_inside, "{offsets:?}");
        }
    }
    let short = app(&[(kind::MAIN, value(&[0]))], 512, 1);
    let cut = Error::Truncated(kind::MAIN);
    assert_eq!(parse(&short), Ok(Entry::Unusable(512, cut)));
    let name = app(&[(kind::PACKAGE_NAME, vec![0xFF, 0xFE])], 512, 1);
    assert_eq!(parse(&name), Ok(Entry::Unusable(512, Error::Name)));
    for (length, takes) in [(NAME_BYTES, true), (NAME_BYTES + 1, false)] {
        let image = app(&usual(&"n".repeat(length), 0, 0, 0), 512, 1);
        let refused = Entry::Unusable(512, Error::LongName(length));
        assert_eq!(parse(&image) == Ok(refused), !takes, "{:?}", parse(&image));
    }
}

/// A pseudo-random sequence of numbers, the same for the same start.
pub struct Numbers(pub u64);

impl Numbers {
    /// A number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A word that is likely to break a parser.
    fn awkward(&mut self) -> u32 {
        let near = [0, 4, 16, 512, 0x7FFF, 0xFFFF, 1 << 31, u32::MAX][self.below(8) as usize];
        near.wrapping_add(self.below(9)).wrapping_sub(4)
    }
}

/// A correct header with some entries in some order, then broken in up to three places. In seven of eight
/// cases the checksum is corrected, so that the parser reads the entries.
pub fn broken_app(numbers: &mut Numbers) -> Vec<u8> {
    let mut entries = Vec::new();
    for _ in 0..numbers.below(7) {
        let offsets = [numbers.below(64), numbers.below(64), numbers.below(4096)];
        entries.push(match numbers.below(6) {
            0 => (kind::MAIN, value(&offsets)),
            1 => (kind::PROGRAM, value(&[&offsets[..], &[400, 0]].concat())),
            2 => (
                kind::PACKAGE_NAME,
                b"an app's name".repeat(1 + numbers.below(6) as usize)
                    [numbers.below(13) as usize..]
                    .to_vec(),
            ),
            3 => (
                kind::FIXED_ADDRESSES,
                value(&[0x1000_2000 + 1024 * numbers.below(65), ANYWHERE]),
            ),
            4 => (kind::KERNEL_VERSION, value(&[2])),
            _ => (128, vec![7; numbers.below(20) as usize]),
        });
    }
    let mut image = app(&entries, 512, numbers.below(2));
    let header_size = usize::from(half(&image, 2).unwrap());
    for _ in 0..numbers.below(4) {
        let at = numbers.below(header_size as u32) as usize;
        let word = numbers.awkward().to_le_bytes();
        match numbers.below(4) {
            0 => image[at] ^= 1 << numbers.below(8),
            1 => image[at & !1..][..2].copy_from_slice(&word[..2]),
            2 => image[at & !3..][..4].copy_from_slice(&word),
            _ => image.truncate(512 - numbers.below(header_size as u32 / 4) as usize),
        }
    }
    let size_in_header = half(&image, 2).unwrap().into();
    if let Some(header) = image
        .get(..size_in_header)
        .filter(|header| header.len() >= BASE_SIZE)
        && numbers.below(8) > 0
    {
        let sum = checksum(header);
        image[12..16].copy_from_slice(&sum.to_le_bytes());
    }
    image
}

/// Everything that the parser returns is within its input, and every outcome occurs.
fn fuzz(inputs: u32) {
    const SEED: u64 = 0x746F_636B_6D61_726B;
    let mut numbers = Numbers(SEED);
    let mut outcomes = std::collections::BTreeMap::new();
    for input in 0..inputs {
        let image = broken_app(&mut numbers);
        let outcome = match parse(&image) {
            Ok(Entry::End) => "end",
            Ok(Entry::Padding(size)) => {
                assert!(
                    (BASE_SIZE..=image.len()).contains(&(size as usize)),
                    "{input}"
                );
                "padding"
            }
            Ok(Entry::App(header)) => {
                let header_size = u32::from(half(&image, 2).unwrap());
                let program = header_size..header.total_size;
                assert!(header.total_size as usize <= image.len(), "{input}");
                assert!(program.contains(&header.start), "{input}");
                assert!(program.contains(&header.entry), "{input}");
                let name = header.name.as_bytes().as_ptr_range();
                let whole = image[..header_size as usize].as_ptr_range();
                assert!(header.name.len() <= NAME_BYTES, "{input}");
                let inside = whole.start <= name.start && name.end <= whole.end;
                assert!(inside || header.name.is_empty(), "{input}");
                "app"
            }
            Ok(Entry::Unusable(size, why)) => {
                assert!(
                    (BASE_SIZE..=image.len()).contains(&(size as usize)),
                    "{input}"
                );
                match why {
                    Error::Truncated(_) => "truncated",
                    Error::Name => "name",
                    Error::LongName(_) => "long name",
                    Error::Entry => "entry",
                    other => panic!("{input}: {other:?} says nothing of the size"),
                }
            }
            Err(Error::Version(_)) => "version",
            Err(Error::Size) => "size",
            Err(Error::Checksum) => "checksum",
            Err(other) => panic!("{input}: {other:?} ends the search"),
        };
        *outcomes.entry(outcome).or_insert(0) += 1;
    }
    println!("{inputs} headers, seed {SEED:#x}: {outcomes:?}");
    assert_eq!(outcomes.len(), 10, "{outcomes:?}");
}

#[test]
fn broken_headers_never_mislead() {
    fuzz(20_000);
}

#[test]
#[ignore = "takes a while: kernel/README.md says how to run it"]
fn a_million_broken_headers_never_mislead() {
    fuzz(1_000_000);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        let _ = parse(&bytes);
    }

    /// The checksum is correct, so that the parser reads the entries.
    #[test]
    fn arbitrary_entries_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..256),
        kinds in proptest::collection::vec((0..12u16, 0..24u16), 0..8),
    ) {
        let mut image = app(&[(kind::MAIN, bytes)], 1024, 1);
        let mut at = BASE_SIZE;
        for (kind, length) in kinds {
            if at + 4 <= usize::from(half(&image, 2).unwrap()) {
                image[at..at + 2].copy_from_slice(&kind.to_le_bytes());
                image[at + 2..at + 4].copy_from_slice(&length.to_le_bytes());
                at += 4 + usize::from(length).next_multiple_of(4);
            }
        }
        let header_size = usize::from(half(&image, 2).unwrap());
        let sum = checksum(&image[..header_size]);
        image[12..16].copy_from_slice(&sum.to_le_bytes());
        if let Ok(Entry::App(header)) = parse(&image) {
            prop_assert!(header.entry < header.total_size && header.start < header.total_size);
        }
    }
}
