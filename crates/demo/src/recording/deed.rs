//! What a player did and looked at, as it is recorded: a byte that says what, and its fields.

use tickwire_wire::{DecodeError, LittleEndian, Reader, Writer};

use super::start::{read_weapon, weapon_code};
use crate::gateway::TileClient;
use crate::tiles::{Block, BlockId, Cell, Direction, SetId, Sublayer};
use crate::{Intent, Loadout, Vec2, View};

/// Bytes of what is said, at most.
const TEXT_MAX: usize = 4_096;

/// How far around a walker tiles are compared.
const SIGHT: i32 = 10;

/// A call on a client's half.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Deed {
    /// It took what its session had to tell.
    Collect,
    /// It looked at the arena, and saw what has this sum.
    View {
        sum: u32,
    },
    /// It looked at the tile world.
    Sight {
        sum: u32,
    },
    Act(Intent),
    Chat(String),
    Teleport,
    Disconnect,
    Walk(Direction),
    /// It asked for what the server has, and for an emblem.
    Content(Option<char>),
    Rename(String),
    /// It chose what the next ship carries.
    Select(Loadout),
    /// The order of its own databases, with commas in between.
    Databases(String),
    Identify,
    IgnoreNearest,
    /// The player taunted.
    Taunt,
    Build {
        at: BlockId,
        block: Block,
    },
}

impl Deed {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut w = Writer::<LittleEndian>::new(&mut bytes, TEXT_MAX + 64);
        match self {
            Self::Collect => w.u8(0),
            Self::View { sum } => {
                w.u8(1);
                w.u32(*sum);
            }
            Self::Sight { sum } => {
                w.u8(2);
                w.u32(*sum);
            }
            Self::Act(intent) => {
                w.u8(3);
                let mut intent = *intent;
                let held = intent.buttons().into_iter().rev();
                w.u16(held.fold(0, |held, button| held << 1 | u16::from(*button)));
                w.u64(intent.aim.x.to_bits());
                w.u64(intent.aim.y.to_bits());
            }
            Self::Chat(text) => write_text(&mut w, 4, text),
            Self::Rename(name) => write_text(&mut w, 12, name),
            Self::Select(loadout) => {
                w.u8(13);
                loadout
                    .0
                    .iter()
                    .for_each(|weapon| w.u8(weapon_code(*weapon)));
            }
            Self::Databases(paths) => write_text(&mut w, 14, paths),
            Self::Teleport => w.u8(5),
            Self::Disconnect => w.u8(6),
            Self::Walk(direction) => {
                w.u8(7);
                let number = Direction::ALL.iter().position(|other| other == direction);
                w.u8(number.and_then(|it| u8::try_from(it).ok()).unwrap_or(0));
            }
            Self::Build { at, block } => {
                w.u8(8);
                w.u16(at.set.0);
                w.i32(at.cell.x);
                w.i32(at.cell.y);
                w.u8(u8::from(at.sublayer == Sublayer::Solid));
                for part in [block.typ, block.col, block.ch] {
                    w.i8(part);
                }
            }
            Self::Content(emblem) => {
                w.u8(9);
                w.u32(emblem.map_or(0, u32::from));
            }
            Self::Identify => w.u8(10),
            Self::IgnoreNearest => w.u8(11),
            Self::Taunt => w.u8(15),
        }
        debug_assert!(w.finish().is_ok(), "there is room for the longest");
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::<LittleEndian>::new(bytes);
        let deed = match r.u8("deed")? {
            0 => Self::Collect,
            1 => Self::View { sum: r.u32("sum")? },
            2 => Self::Sight { sum: r.u32("sum")? },
            3 => {
                let held = r.u16("buttons")?;
                let x = f64::from_bits(r.u64("aim x")?);
                let y = f64::from_bits(r.u64("aim y")?);
                let mut intent = Intent {
                    aim: Vec2::new(x, y),
                    ..Intent::default()
                };
                for (place, button) in intent.buttons().into_iter().enumerate() {
                    *button = held >> place & 1 == 1;
                }
                Self::Act(intent)
            }
            4 => Self::Chat(read_text(&mut r)?),
            12 => Self::Rename(read_text(&mut r)?),
            13 => {
                let mut loadout = Loadout::UNARMED;
                for slot in &mut loadout.0 {
                    *slot = read_weapon(&mut r)?;
                }
                Self::Select(loadout)
            }
            14 => Self::Databases(read_text(&mut r)?),
            5 => Self::Teleport,
            6 => Self::Disconnect,
            7 => {
                let number = r.u8("direction")?;
                let direction = Direction::ALL.get(usize::from(number));
                Self::Walk(*direction.ok_or_else(|| r.refuse("direction", number.into()))?)
            }
            8 => Self::read_build(&mut r)?,
            9 => Self::Content(char::from_u32(r.u32("emblem")?).filter(|it| *it != '\0')),
            10 => Self::Identify,
            11 => Self::IgnoreNearest,
            15 => Self::Taunt,
            other => return Err(r.refuse("deed", other.into())),
        };
        r.finish()?;
        Ok(deed)
    }

    fn read_build(r: &mut Reader<'_, LittleEndian>) -> Result<Self, DecodeError> {
        let set = SetId(r.u16("set")?);
        let cell = Cell {
            x: r.i32("x")?,
            y: r.i32("y")?,
        };
        let sublayer = match r.u8("sublayer")? {
            0 => Sublayer::Walkable,
            1 => Sublayer::Solid,
            other => return Err(r.refuse("sublayer", other.into())),
        };
        Ok(Self::Build {
            at: BlockId {
                set,
                cell,
                sublayer,
            },
            block: Block {
                typ: r.i8("typ")?,
                col: r.i8("col")?,
                ch: r.i8("ch")?,
            },
        })
    }
}

/// A sum over everything that a view shows: equal views have equal ones.
pub(super) fn sum_of_view(view: &View) -> u32 {
    let mut sum = Sum::default();
    sum.add(view.own_ship.map_or(u64::MAX, |id| id.0.into()));
    for seen in &view.seen {
        sum.add(seen.id.0.into());
        sum.add(seen.kind as u64 | u64::from(seen.health) << 8 | u64::from(seen.own) << 16);
        sum.add(seen.owner.map_or(u64::MAX, |owner| owner.0.into()));
        let parts = [
            seen.position.x,
            seen.position.y,
            seen.heading.radians(),
            seen.reach,
        ];
        parts.into_iter().for_each(|part| sum.add(part.to_bits()));
    }
    sum.folded()
}

/// A sum over where a walker is, who else is there, and what there is around.
pub(super) fn sum_of_sight(client: &dyn TileClient) -> u32 {
    let mut sum = Sum::default();
    let Some(centre) = client.position() else {
        return 0;
    };
    sum.add_cell(centre);
    for other in client.others() {
        sum.add_cell(other.position);
        sum.add(u64::from(other.look.chr) << 16 | u64::from(other.look.col));
    }
    for (x, y) in (-SIGHT..=SIGHT).flat_map(|y| (-SIGHT..=SIGHT).map(move |x| (x, y))) {
        let tile = centre.offset(x, y).and_then(|cell| client.tile(cell));
        let block = |block: Block| {
            let [typ, col, ch] = [block.typ, block.col, block.ch].map(i8::cast_unsigned);
            u64::from(u32::from_le_bytes([typ, col, ch, 0]))
        };
        sum.add(tile.map_or(u64::MAX, |tile| {
            block(tile.walkable) | block(tile.solid) << 32
        }));
    }
    sum.folded()
}

/// FNV-1a, word by word: not against forgers, only against mistakes.
struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
        // The highest bits of a word reach nothing below them by multiplying.
        self.0 ^= self.0 >> 32;
    }

    fn add_cell(&mut self, cell: Cell) {
        let [x, y] = [cell.x, cell.y].map(i32::cast_unsigned);
        self.add(u64::from(x) << 32 | u64::from(y));
    }

    const fn folded(&self) -> u32 {
        let [a, b, c, d, e, f, g, h] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) ^ u32::from_le_bytes([e, f, g, h])
    }
}

fn write_text(w: &mut Writer<'_, LittleEndian>, what: u8, text: &str) {
    w.u8(what);
    let end = text.floor_char_boundary(TEXT_MAX);
    w.bytes(text.get(..end).unwrap_or_default().as_bytes());
}

fn read_text(r: &mut Reader<'_, LittleEndian>) -> Result<String, DecodeError> {
    let text = r.bytes("text", r.remaining())?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deed_reads_back_and_no_shorter_one_does() {
        let intent = Intent {
            turn_left: true,
            fire: [false, true, false, true],
            aim: Vec2::new(-3.5, 1e9),
            ..Intent::default()
        };
        let deeds = [
            Deed::Collect,
            Deed::View { sum: 0xdead_beef },
            Deed::Sight { sum: 7 },
            Deed::Act(intent),
            Deed::Teleport,
            Deed::Disconnect,
            Deed::Content(Some('é')),
            Deed::Content(None),
            Deed::Select(Loadout::STANDARD),
            Deed::Taunt,
            Deed::Identify,
            Deed::IgnoreNearest,
            Deed::Walk(Direction::NorthWest),
            Deed::Build {
                at: BlockId::root(Cell { x: -7, y: 1 << 30 }, Sublayer::Solid),
                block: Block::fixed(12, b'#'),
            },
        ];
        for deed in deeds {
            let bytes = deed.encode();
            assert_eq!(Deed::decode(&bytes), Ok(deed));
            for end in 0..bytes.len() {
                assert!(Deed::decode(&bytes[..end]).is_err());
            }
        }
        // Text goes to the end, so a shorter one is another.
        for said in [
            Deed::Chat("hello".into()),
            Deed::Rename("Bea".into()),
            Deed::Databases("a.db,b.db".into()),
        ] {
            assert_eq!(Deed::decode(&said.encode()), Ok(said));
        }
    }
}
