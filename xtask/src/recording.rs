//! Recorded worlds: what `compress` measures and `prior` is fitted to.
//!
//! A recording is headerless little-endian 32-bit integers, frame after frame, as many entities in each.
//! Here it becomes blocks, and each frame a packet: what both sides know, and what is to be told.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use tickwire_replica::coder::{Ages, Known};
use tickwire_replica::{
    ArchetypeSchema, BlockBuf, BlockView, Field, Kind, Playback, SLOTS, Schema,
};

/// What a frame consists of.
#[derive(Clone)]
pub(crate) struct Layout {
    fields: Vec<Field>,
    slots: usize,
}

impl Layout {
    /// Reads a list such as `q9,i3,f`.
    pub(crate) fn parse(fields: &str, slots: usize) -> anyhow::Result<Self> {
        let fields = fields
            .split(',')
            .map(parse_field)
            .collect::<Result<_, _>>()?;
        ensure!(slots > 0, "a frame has at least one entity");
        Ok(Self { fields, slots })
    }

    pub(crate) fn schema(&self) -> Schema {
        Schema::new(vec![self.archetype()])
    }

    pub(crate) fn archetype(&self) -> ArchetypeSchema {
        ArchetypeSchema {
            name: "Entity",
            fields: self.fields.clone(),
        }
    }

    /// Integers of an entity.
    fn lanes(&self) -> usize {
        self.fields.iter().map(Field::lanes).sum()
    }

    /// A frame as blocks. Its entities have the numbers of their places.
    fn blocks(&self, frame: &[u32]) -> Vec<BlockBuf> {
        let entities: Vec<&[u32]> = frame.chunks_exact(self.lanes()).collect();
        let blocks = entities
            .chunks(SLOTS)
            .zip(1_u32..)
            .map(|(entities, number)| {
                let mut block = BlockBuf::default();
                block.assign(&self.fields, None);
                for (slot, (entity, id)) in entities.iter().zip(number << 8..).enumerate() {
                    block.occupied |= 1 << slot;
                    block.ids[slot] = id;
                    for (lane, &value) in entity.iter().enumerate() {
                        block.lanes[lane * SLOTS + slot] = value;
                    }
                }
                block
            });
        blocks.collect()
    }
}

fn parse_field(text: &str) -> anyhow::Result<Field> {
    let number = || -> anyhow::Result<u8> {
        let digits = text.get(1..).unwrap_or_default();
        digits
            .parse()
            .with_context(|| format!("field {text}: a number follows the letter"))
    };
    let field = |kind| Field::new("field", kind);
    Ok(match text.chars().next() {
        Some('f') => field(Kind::Flag),
        Some('q') => field(Kind::Quaternion { bits: number()? }),
        Some('i') => Field {
            components: number()?,
            playback: Playback::Interpolate {
                jump_over: u32::MAX,
            },
            ..field(Kind::Signed {
                min: i32::MIN,
                max: i32::MAX,
            })
        },
        _ => bail!("field {text:?} is none of f, iN and qN"),
    })
}

/// A recording, whole.
pub(crate) struct Recording {
    layout: Layout,
    integers: Vec<u32>,
}

impl Recording {
    pub(crate) fn read(path: &Path, layout: &Layout) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        ensure!(
            !bytes.starts_with(&ZSTD),
            "{} is compressed: `zstd -d` it first",
            path.display()
        );
        let (integers, rest) = bytes.as_chunks();
        let recording = Self::new(
            layout,
            integers.iter().copied().map(u32::from_le_bytes).collect(),
        );
        let frame = recording.frame_len();
        ensure!(
            rest.is_empty() && recording.integers.len().is_multiple_of(frame),
            "{} is not made of frames of {frame} integers",
            path.display()
        );
        Ok(recording)
    }

    pub(crate) fn new(layout: &Layout, integers: Vec<u32>) -> Self {
        Self {
            layout: layout.clone(),
            integers,
        }
    }

    /// The packets of all frames that have a baseline `lag` frames older.
    pub(crate) fn packets(&self, lag: u8) -> Packets<'_> {
        let frames = self.integers.len() / self.frame_len();
        Packets {
            recording: self,
            lag,
            frames: usize::from(lag)..frames.max(lag.into()),
        }
    }

    fn frame_len(&self) -> usize {
        self.layout.slots * self.layout.lanes()
    }

    fn frame(&self, number: usize) -> Vec<BlockBuf> {
        let frame = number * self.frame_len()..(number + 1) * self.frame_len();
        self.layout.blocks(&self.integers[frame])
    }
}

/// How a compressed file begins.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Some packets of a recording.
#[derive(Clone)]
pub(crate) struct Packets<'a> {
    recording: &'a Recording,
    lag: u8,
    frames: Range<usize>,
}

impl<'a> Packets<'a> {
    /// The earlier and the later half of them.
    pub(crate) fn halves(&self) -> [Self; 2] {
        let Range { start, end } = self.frames;
        let middle = usize::midpoint(start, end);
        [start..middle, middle..end].map(|frames| Self {
            frames,
            ..self.clone()
        })
    }

    /// Visits them in order.
    pub(crate) fn visit(
        &self,
        mut visit: impl FnMut(&Packet<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let half = (self.lag / 2).max(1);
        // From the oldest previous to the frame itself.
        let mut held = VecDeque::new();
        let reach = usize::from(self.lag) + usize::from(half);
        let mut next = self.frames.start.saturating_sub(reach);
        for frame in self.frames.clone() {
            while next <= frame {
                held.push_back(self.recording.frame(next));
                next += 1;
            }
            while held.len() > reach + 1 {
                held.pop_front();
            }
            let age = |age: usize| &held[held.len() - 1 - age];
            let oldest = held.len() - 1;
            let ages = Ages {
                baseline: self.lag,
                previous: u8::try_from(oldest).context("a lag of at most 42")?,
            };
            visit(&Packet {
                fields: &self.recording.layout.fields,
                ages,
                now: age(0),
                baseline: age(self.lag.into()),
                previous: (oldest > self.lag.into()).then(|| age(oldest).as_slice()),
            })
            .with_context(|| format!("frame {frame}"))?;
        }
        Ok(())
    }
}

/// One frame, and what is known when it is sent.
pub(crate) struct Packet<'a> {
    fields: &'a [Field],
    ages: Ages,
    now: &'a [BlockBuf],
    baseline: &'a [BlockBuf],
    previous: Option<&'a [BlockBuf]>,
}

impl Packet<'_> {
    /// Its blocks, each with what is known of it.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (Known<'_>, &BlockBuf)> {
        let blocks = self.now.iter().zip(self.baseline).enumerate();
        blocks.map(|(n, (now, baseline))| {
            let known = Known {
                fields: self.fields,
                baseline: Some(baseline.view()),
                previous: self.previous.map(|blocks| blocks[n].view()),
                ages: self.ages,
            };
            (known, now)
        })
    }

    /// The same for one run of a trainer.
    pub(crate) fn run(
        &self,
        archetype: usize,
    ) -> impl Iterator<Item = (usize, Known<'_>, BlockView<'_>)> {
        self.blocks()
            .map(move |(known, now)| (archetype, known, now.view()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_knows_two_earlier_frames() {
        let layout = Layout::parse("f,i2", 70).unwrap();
        // Each integer of frame n is n.
        let integers = (0..12).flat_map(|frame| [frame; 70 * 3]).collect();
        let recording = Recording::new(&layout, integers);
        let packets = recording.packets(4);
        let mut seen = Vec::new();
        packets
            .visit(|packet| {
                let (known, now) = packet.blocks().last().unwrap();
                let lane = |block: BlockView<'_>| block.lanes[SLOTS + 5];
                seen.push((
                    lane(now.view()),
                    lane(known.baseline.unwrap()),
                    known.previous.map(lane),
                ));
                assert_eq!(now.occupied, (1 << 6) - 1);
                Ok(())
            })
            .unwrap();
        assert_eq!(seen[..3], [(4, 0, None), (5, 1, Some(0)), (6, 2, Some(0))]);
        assert_eq!(seen[7], (11, 7, Some(5)));
        let [first, second] = packets.halves();
        assert_eq!((first.frames, second.frames), (4..8, 8..12));
    }

    #[test]
    fn fields_are_as_the_list_says() {
        for wrong in ["", "x", "i", "q", "f,,f"] {
            assert!(Layout::parse(wrong, 1).is_err(), "{wrong}");
        }
        assert_eq!(Layout::parse("q9,i3,f", 901).unwrap().lanes(), 8);
    }
}
