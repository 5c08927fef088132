//! What changed in a place, cut into records that fit a packet.
//!
//! In: any number of blocks, and what they are relative to. Out: one body after the other, each of
//! consecutive blocks, as many as fit [`RECORD_MAX`]. A coded body that is longer than the packed one
//! of the same blocks is replaced by it.

use alloc::vec::Vec;

use super::form::{Lead, PackedSink, Sink};
use super::{Changed, Coding, put};
use crate::coder::CodedEncoder;
use crate::limits::RECORD_MAX;
use crate::packet::{Form, RecordHead, Target};

/// A body among those that [`encode_parts`] appended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Part {
    pub(crate) form: Form,
    /// How many blocks it holds.
    pub(crate) blocks: usize,
    /// How long it is.
    pub(crate) bytes: usize,
}

/// Appends the bodies of these blocks, which are in ascending order, and tells each to `part`. One block
/// at least, packed, always fits: see [`slots_of`](crate::slots_of).
pub(crate) fn encode_parts<'a>(
    head: &RecordHead,
    blocks: impl Iterator<Item = Changed<'a>> + Clone,
    coding: &mut Coding,
    out: &mut Vec<u8>,
    mut part: impl FnMut(Part),
) {
    match head.form {
        Form::Packed => encode_packed(head, blocks, &mut coding.packed, out, &mut part),
        Form::Coded => encode_coded(head, blocks, coding, out, &mut part),
    }
}

fn encode_packed<'a>(
    head: &RecordHead,
    blocks: impl Iterator<Item = Changed<'a>>,
    contents: &mut Vec<u8>,
    out: &mut Vec<u8>,
    part: &mut impl FnMut(Part),
) {
    let (mut start, mut count, mut before) = (out.len(), 0, None);
    let mut last_lead = start;
    for changed in blocks {
        contents.clear();
        put(&mut PackedSink::new(contents), head, None, &changed);
        let mut lead = Lead::of(head, before, &changed);
        if before.is_some() && out.len() - start + lead.packed_len() + contents.len() > RECORD_MAX {
            end_packed(head, out, &mut start, (last_lead, count), part);
            (count, before) = (0, None);
            lead = Lead::of(head, before, &changed);
        }
        last_lead = out.len();
        if head.target == Target::Place {
            PackedSink::new(out).lead(lead);
        }
        out.extend_from_slice(contents);
        (count, before) = (count + 1, Some(changed.block));
    }
    if count > 0 {
        end_packed(head, out, &mut start, (last_lead, count), part);
    }
}

/// Ends a packed body, and lets the next start behind it.
fn end_packed(
    head: &RecordHead,
    out: &mut Vec<u8>,
    start: &mut usize,
    (last_lead, blocks): (usize, usize),
    part: &mut impl FnMut(Part),
) {
    PackedSink::behind(out, last_lead).finish(head.target);
    part(Part {
        form: Form::Packed,
        blocks,
        bytes: out.len() - *start,
    });
    *start = out.len();
}

fn encode_coded<'a>(
    head: &RecordHead,
    blocks: impl Iterator<Item = Changed<'a>> + Clone,
    coding: &mut Coding,
    out: &mut Vec<u8>,
    part: &mut impl FnMut(Part),
) {
    let Coding {
        prior,
        scratch,
        packed,
        lengths,
    } = coding;
    // What each takes packed: a body ends before a block that might not fit.
    lengths.clear();
    lengths.extend(blocks.clone().map(|changed| {
        packed.clear();
        put(&mut PackedSink::new(packed), head, None, &changed);
        packed.len()
    }));
    let mut rest = blocks.zip(&*lengths);
    loop {
        let (start, this) = (out.len(), rest.clone());
        if rest.clone().next().is_none() {
            return;
        }
        let mut encoder = CodedEncoder::new(prior, scratch, out);
        let (mut count, mut before, mut as_packed) = (0, None, 0);
        let mut next = rest.clone();
        while let Some((changed, length)) = next.next() {
            if count > 0 && encoder.written() - start + length + UNCERTAIN > RECORD_MAX {
                break;
            }
            let lead = (head.target == Target::Place).then(|| Lead::of(head, before, &changed));
            as_packed += length + lead.as_ref().map_or(0, Lead::packed_len);
            put(&mut encoder, head, lead, &changed);
            (count, before) = (count + 1, Some(changed.block));
            rest = next.clone();
        }
        Sink::finish(encoder, head.target);
        let bytes = out.len() - start;
        if bytes <= as_packed.min(RECORD_MAX) {
            part(Part {
                form: Form::Coded,
                blocks: count,
                bytes,
            });
        } else {
            out.truncate(start);
            let these = this.take(count).map(|(changed, _)| changed);
            encode_packed(head, these, packed, out, part);
        }
    }
}

/// Bytes that a coded body may have more than is known before its end, with the lead of one more block.
const UNCERTAIN: usize = 12;
