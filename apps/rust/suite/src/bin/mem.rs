// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The app mem: the cost of RAM. The bodies in assembly are in asm/mem.S; here are compiled ones, which use
//! slices.

#![no_std]
#![no_main]

use suite::rows::{self, bodies, mem_copy_asm, mem_latency, mem_misaligned, mem_read_byte};
use suite::{app, benches_mem};
use tock::bench;
use tock::memory::{ALIGNMENT, Area, Break, Lent};
use tock::runtime::{Asm, Outcome, Run, Span, Stage, Stop};

const MOST: usize = 2 * mem_copy_asm::size::MAX as usize / 4; // words
const NODES: u32 = mem_latency::INNER;
const BYTES: u32 = mem_read_byte::INNER;
const UNROLLED: u32 = 32; // bytes that are copied without a loop, as in the study
const BEYOND: u32 = 256; // bytes: events are counted up to here; each further size doubles them

tock::heap!(32832); // MOST words, and room to align them to ALIGNMENT
const _: () = assert!(4 * MOST + ALIGNMENT == 32832);
const _: () = assert!(BYTES == rows::mem_write_byte::INNER, "one area serves both");

// All rows use this memory; each sets it up again.
static AREA: Area = Area::new();
static WORDS: Stage<Lent<'static>> = Stage::new();
static SPAN: Stage<Span> = Stage::new();
static COPY: Stage<Copy> = Stage::new();

/// The first half is copied to the second one.
struct Copy {
    area: Lent<'static>,
    half: usize,
}

/// Reserves the memory, or as much of it as the kernel has.
fn reserve() {
    for words in (1..=MOST).rev().step_by(256) {
        let fits = Break::take().and_then(|mut end| end.sbrk((4 * words + ALIGNMENT) as u32));
        if fits.is_ok() && AREA.reserve(words).is_ok() {
            return;
        }
    }
}

/// Lends this many bytes of it.
fn lend(run: &mut Run, bytes: u32) -> Result<Lent<'static>, Stop> {
    drop((WORDS.take(run), SPAN.take(run), COPY.take(run))); // the previous row's
    if AREA.lend(1).is_none() {
        reserve();
    }
    match AREA.lend(bytes.div_ceil(4) as usize) {
        Some(lent) => Ok(lent),
        None => run
            .skip(c"too little RAM is left for an app")
            .map(|()| unreachable!()),
    }
}

fn address(word: &u32) -> u32 {
    core::ptr::from_ref(word).expose_provenance() as u32
}

/// Links nodes that are `stride` bytes apart; each points to the next one.
fn setup_list(run: &mut Run) -> Outcome {
    let stride = run.value(0);
    let mut list = lend(run, NODES * stride)?;
    let start = address(&list[0]);
    for (i, node) in (1..).zip(list.chunks_exact_mut(stride as usize / 4)) {
        node[0] = if i < NODES { start + i * stride } else { 0 };
    }
    WORDS.keep(run, list);
    run.measure(bodies::tm_list_walk, start)
}

/// The body's result shows that the walk reached the end; this checks that the list has all its nodes.
fn finish_list(run: &mut Run) -> Outcome {
    let stride = run.value(0);
    let Some(list) = WORDS.take(run) else {
        return run.verify(false);
    };
    let start = address(&list[0]);
    let (mut at, mut nodes) = (start, 0);
    while at != 0 && nodes <= NODES {
        at = list[(at - start) as usize / 4];
        nodes += 1;
    }
    run.verify(nodes == NODES && list.len() == (NODES * stride / 4) as usize)
}

/// Returns a word that is different for each index, and never 0.
fn pattern(index: u32) -> u32 {
    0x9e37_79b9_u32.wrapping_mul(2 * index + 1)
}

fn fill(words: &mut [u32], flip: u32) {
    for (i, word) in (0..).zip(words) {
        *word = pattern(i) ^ flip;
    }
}

/// Words with the pattern, for a row to read or to overwrite.
fn words(run: &mut Run) -> Result<Lent<'static>, Stop> {
    let mut words = lend(run, run.value(0))?;
    fill(&mut words, 0);
    Ok(words)
}

/// In addition a destination after them, in which each word differs from the one to be copied there.
fn copy(run: &mut Run) -> Result<Copy, Stop> {
    let mut area = lend(run, 2 * run.value(0))?;
    let half = area.len() / 2;
    let (from, to) = area.split_at_mut(half);
    fill(from, 0);
    fill(to, !0);
    run.expect(address(&to[0]) + run.value(0));
    Ok(Copy { area, half })
}

fn setup_copy(run: &mut Run, body: extern "C" fn(&mut Copy) -> u32) -> Outcome {
    let copy = copy(run)?;
    COPY.measure(run, body, copy)
}

fn is_copied(run: &mut Run, words: &[u32]) -> Outcome {
    run.verify(
        (0..)
            .zip(&words[words.len() / 2..])
            .all(|(i, &word)| word == pattern(i)),
    )
}

fn finish_copy(run: &mut Run) -> Outcome {
    match COPY.take(run) {
        Some(Copy { area, .. }) => is_copied(run, &area),
        None => run.verify(false),
    }
}

fn setup_copy_asm(run: &mut Run) -> Outcome {
    let Copy { area, half } = copy(run)?;
    if run.value(0) == UNROLLED {
        let start = address(&area[0]);
        run.expect(start);
        SPAN.keep(run, Span::copying(area, half));
        return run.measure(bodies::tm_copy_8_words, start);
    }
    SPAN.measure_asm(run, bodies::tm_copy_words, Span::copying(area, half))
}

fn finish_copy_asm(run: &mut Run) -> Outcome {
    match SPAN.take(run) {
        Some(span) => is_copied(run, &span.area),
        None => run.verify(false),
    }
}

fn setup_sum(run: &mut Run) -> Outcome {
    let words = words(run)?;
    let n = words.len() as u32;
    run.expect(0x9e37_79b9_u32.wrapping_mul(n * n)); // the sum of the first n odd numbers is n * n
    WORDS.measure(run, read_sum, words)
}

fn setup_span(run: &mut Run, body: Asm, expect: u32) -> Outcome {
    let words = words(run)?;
    run.expect(expect);
    SPAN.measure_asm(run, body, Span::over(words))
}

fn setup_read(run: &mut Run) -> Outcome {
    setup_span(run, bodies::tm_read_words, pattern(run.value(0) / 4 - 1))
}

fn setup_write(run: &mut Run) -> Outcome {
    let words = words(run)?;
    WORDS.measure(run, write_const, words)
}

fn finish_write(run: &mut Run) -> Outcome {
    match WORDS.take(run) {
        Some(words) => run.verify(words.iter().all(|&word| word == 0)),
        None => run.verify(false),
    }
}

fn finish_write_asm(run: &mut Run) -> Outcome {
    match SPAN.take(run) {
        Some(span) => run.verify(span.area.iter().all(|&word| word == 0)),
        None => run.verify(false),
    }
}

/// Bytes 0, 1, 2, … 255, 0, …, with one more word after BYTES; the body works on them from `offset` on.
fn setup_bytes(run: &mut Run, body: Asm, offset: u32, expect: impl Fn(u32) -> u32) -> Outcome {
    let mut words = lend(run, BYTES + 4)?;
    for (i, word) in (0..).step_by(4).zip(words.iter_mut()) {
        *word = word_at(i);
    }
    let start = address(&words[0]);
    run.expect(expect(start));
    WORDS.keep(run, words);
    run.measure(body, start + offset)
}

/// Returns the word of four consecutive bytes that start with this one.
fn word_at(byte: u32) -> u32 {
    u32::from_le_bytes([0, 1, 2, 3].map(|more| (byte + more) as u8))
}

fn finish_write_bytes(run: &mut Run) -> Outcome {
    match WORDS.take(run) {
        Some(words) => run.verify(words[..BYTES as usize / 4].iter().all(|&word| word == 0)),
        None => run.verify(false),
    }
}

/// The last misaligned word begins this many bytes before the end.
fn setup_straddling(run: &mut Run) -> Outcome {
    let offset = run.value(0);
    let last = word_at(offset + 4 * (mem_misaligned::INNER - 1));
    setup_bytes(run, bodies::tm_read_straddling, offset, |_| last)
}

// The compiled bodies. Each returns the same as its twin in assembly, except the sum.

extern "C" fn copy_memcpy(copy: &mut Copy) -> u32 {
    let (from, to) = copy.area.split_at_mut(copy.half);
    to.copy_from_slice(from);
    address_behind(to)
}

extern "C" fn copy_loop(copy: &mut Copy) -> u32 {
    let (from, to) = copy.area.split_at_mut(copy.half);
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    address_behind(to)
}

/// Copies like C's memcpy (apps/runtime/memory.c): four words per pass, then the rest one by one.
extern "C" fn copy_plain(copy: &mut Copy) -> u32 {
    let (from, to) = copy.area.split_at_mut(copy.half);
    let (from_fours, from_rest) = from.as_chunks::<4>();
    let (to_fours, to_rest) = to.as_chunks_mut::<4>();
    for (to, from) in to_fours.iter_mut().zip(from_fours) {
        *to = *from;
    }
    for (to, from) in to_rest.iter_mut().zip(from_rest) {
        *to = *from;
    }
    address_behind(to)
}

extern "C" fn read_sum(words: &mut Lent<'static>) -> u32 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

extern "C" fn write_const(words: &mut Lent<'static>) -> u32 {
    words.fill(0);
    0
}

fn address_behind(words: &[u32]) -> u32 {
    words.as_ptr_range().end.expose_provenance() as u32
}

bench!(mem_latency, setup: setup_list, finish: finish_list);
bench!(mem_copy_memcpy, setup: |run| setup_copy(run, copy_memcpy), finish: finish_copy,
    events_to: BEYOND);
bench!(mem_copy_loop, setup: |run| setup_copy(run, copy_loop), finish: finish_copy,
    events_to: BEYOND);
bench!(mem_copy_plain, setup: |run| setup_copy(run, copy_plain), finish: finish_copy,
    events_to: BEYOND);
bench!(mem_copy_asm, setup: setup_copy_asm, finish: finish_copy_asm, events_to: BEYOND);
bench!(mem_read_sum, setup: setup_sum, events_to: BEYOND);
bench!(mem_read_asm, setup: setup_read, events_to: BEYOND);
bench!(mem_write_const, setup: setup_write, finish: finish_write, events_to: BEYOND);
bench!(mem_write_asm, setup: |run| setup_span(run, bodies::tm_write_words, 0),
    finish: finish_write_asm, events_to: BEYOND);
bench!(mem_read_byte, setup: |run| setup_bytes(run, bodies::tm_read_bytes, 0, |_| 255));
bench!(mem_write_byte, setup: |run| setup_bytes(run, bodies::tm_write_bytes, 0, |at| at + BYTES),
    finish: finish_write_bytes);
bench!(mem_misaligned, setup: setup_straddling);
app!(c"mem", benches_mem!());
