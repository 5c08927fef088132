//! Choosing the form in which a packet is cheapest, those behind it considered.
//!
//! A field that says the same again can be left out, but saying so costs a byte when the mask has to
//! change. For a field of one byte that gains nothing unless the mask serves again; and storing a mask
//! gives up the one that was stored. So the packets that already wait are looked at: the cheapest way
//! to write all of them is found, and its first step taken.
//!
//! Three things keep that small. Types do not share masks, so only packets of one type matter. The
//! values after each packet are the same whichever form is chosen, so the stored mask is all that
//! distinguishes two ways to get there: at most 32 masks. And defining a mask costs the same whatever
//! was stored before. No packet ever takes more bytes than its plain form.

use super::{FIELDS_MAX, Field, Form, Kept, MaskedType, Values, Wanted};
use crate::pixmess::limits::LOOK_AHEAD;

/// How to write the first of `wanted`, which are packets of one type in the order in which they will
/// be written. Only [`LOOK_AHEAD`] are looked at.
///
/// A field that nobody cares about either takes the value that comes next or keeps the one it has,
/// as it turns out cheaper.
pub fn plan(of: MaskedType, kept: &Kept, wanted: &[Wanted]) -> (Form, Values) {
    let fields = of.fields();
    let wanted = wanted.get(..LOOK_AHEAD).unwrap_or(wanted);
    let cares = |wanted: &Wanted| wanted.iter().take(fields.len()).all(Option::is_some);
    let next = Rows::new(kept, wanted, Filling::Next);
    let (cost, form) = next.cheapest(fields, kept);
    if wanted.iter().all(cares) {
        return (form, next.first());
    }
    let old = Rows::new(kept, wanted, Filling::Old);
    let (cost_of_old, form_of_old) = old.cheapest(fields, kept);
    if cost_of_old < cost {
        (form_of_old, old.first())
    } else {
        (form, next.first())
    }
}

/// What becomes of a field that nobody cares about.
#[derive(Clone, Copy)]
enum Filling {
    /// It says what it will have to say next.
    Next,
    /// It says what it said last.
    Old,
}

/// The packets looked at, every field with a value.
struct Rows {
    rows: [Values; LOOK_AHEAD],
    count: usize,
}

impl Rows {
    fn new(kept: &Kept, wanted: &[Wanted], filling: Filling) -> Self {
        let mut rows = [Values::default(); LOOK_AHEAD];
        let mut before = kept.old;
        for (at, (row, packet)) in rows.iter_mut().zip(wanted).enumerate() {
            let later = match filling {
                Filling::Next => wanted.get(at + 1..).unwrap_or_default(),
                Filling::Old => &[],
            };
            for (place, (value, wanted)) in before.iter_mut().zip(packet).enumerate() {
                let coming = || later.iter().find_map(|packet| *packet.get(place)?);
                *value = wanted.or_else(coming).unwrap_or(*value);
            }
            *row = before;
        }
        Self {
            rows,
            count: wanted.len().min(LOOK_AHEAD),
        }
    }

    fn first(&self) -> Values {
        let [first, ..] = self.rows;
        first
    }

    /// What it costs to write all of them, and the form of the first.
    fn cheapest(&self, fields: &[Field], kept: &Kept) -> (u32, Form) {
        let mut repeats = [0; LOOK_AHEAD];
        let mut before = &kept.old;
        for (repeated, row) in repeats.iter_mut().zip(&self.rows) {
            *repeated = equal(fields, before, row);
            before = row;
        }
        let repeats = repeats.get(..self.count).unwrap_or_default();
        let Some((&first, later)) = repeats.split_first() else {
            return (0, Form::Plain);
        };
        let prices = Prices::new(fields);
        // Whatever the last two packets repeated may well be repeated by the one that nobody sees
        // yet.
        let habit = match *later {
            [] => first & kept.repeated,
            [last] => first & last,
            [.., last_but_one, last] => last_but_one & last,
        };
        let mut after = prices.guess(habit);
        for &repeated in later.iter().rev() {
            let define = prices.cheapest_definition(repeated, &after);
            after = prices.each(|stored| prices.keep(stored, repeated, &after).min(define.cost));
        }
        let stored = places_of(fields, kept.mask);
        let keep = prices.keep(stored, first, &after);
        let define = prices.cheapest_definition(first, &after);
        let form = match () {
            () if define.cost < keep => Form::Defined(mask_of(fields, define.set)),
            () if stored != 0 && is_within(stored, first) => Form::Stored,
            () => Form::Plain,
        };
        (keep.min(define.cost), form)
    }
}

/// A set of fields by their places, not by their bits on the wire, so that it can be an index.
type Places = u8;

/// Sets of places.
const SETS: usize = 1 << FIELDS_MAX;

/// The cost of what follows, for each set of fields that may be stored by then.
type After = [u32; SETS];

/// Costs are in sixteenths of a byte: the whole bytes are known, the rest is a guess, which only
/// decides between equals.
const BYTE: u32 = 16;

struct Prices {
    /// The bytes of each set of fields.
    bytes: [u32; SETS],
    all: Places,
}

/// The set of fields to leave out from now on.
struct Definition {
    set: Places,
    cost: u32,
}

impl Prices {
    fn new(fields: &[Field]) -> Self {
        let mut prices = Self {
            bytes: [0; SETS],
            all: !(Places::MAX << fields.len()),
        };
        prices.bytes = prices.each(|set| {
            let sizes = fields.iter().enumerate();
            let sizes = sizes.map(|(place, field)| usize::from(set >> place & 1) * field.size());
            u32::try_from(sizes.sum::<usize>()).unwrap_or(u32::MAX)
        });
        prices
    }

    /// A cost for each set of fields that this type has.
    fn each(&self, cost: impl Fn(Places) -> u32) -> After {
        let mut costs = [0; SETS];
        for (set, place) in (0..=self.all).zip(&mut costs) {
            *place = cost(set);
        }
        costs
    }

    /// The bytes of the fields that are sent when those of `set` are not.
    fn sent_without(&self, set: Places) -> u32 {
        cost_in(&self.bytes, self.all).saturating_sub(cost_in(&self.bytes, set))
    }

    /// What the packet after all that are known would cost, if it repeats what is the habit.
    fn guess(&self, habit: Places) -> After {
        self.each(|stored| {
            let left_out = if is_within(stored, habit) { stored } else { 0 };
            self.sent_without(left_out)
        })
    }

    /// Writing a packet that repeats `repeated`, and all after it, without another definition.
    fn keep(&self, stored: Places, repeated: Places, after: &After) -> u32 {
        let left_out = if is_within(stored, repeated) {
            stored
        } else {
            0
        };
        (1 + self.sent_without(left_out)) * BYTE + cost_in(after, stored)
    }

    /// The same with the definition that is best for all of it. Defining an empty mask would be a
    /// byte for nothing: the plain form leaves nothing out either.
    fn cheapest_definition(&self, repeated: Places, after: &After) -> Definition {
        let cost = |set| (2 + self.sent_without(set)) * BYTE + cost_in(after, set);
        let nothing = Definition {
            set: 0,
            cost: u32::MAX,
        };
        (1..=self.all)
            .filter(|&set| is_within(set, repeated))
            .map(|set| Definition {
                set,
                cost: cost(set),
            })
            .min_by_key(|definition| definition.cost)
            .unwrap_or(nothing)
    }
}

/// The places where two packets say the same.
pub(super) fn equal(fields: &[Field], a: &Values, b: &Values) -> Places {
    let pairs = a.iter().zip(b).take(fields.len()).enumerate();
    pairs.fold(0, |set, (place, (a, b))| set | u8::from(a == b) << place)
}

const fn is_within(set: Places, other: Places) -> bool {
    set & !other == 0
}

fn cost_in(costs: &[u32; SETS], set: Places) -> u32 {
    costs.get(usize::from(set)).copied().unwrap_or(u32::MAX)
}

fn mask_of(fields: &[Field], set: Places) -> u8 {
    let places = fields.iter().enumerate();
    places.fold(0, |mask, (place, field)| {
        mask | (set >> place & 1) << field.bit
    })
}

fn places_of(fields: &[Field], mask: u8) -> Places {
    let places = fields.iter().enumerate();
    places.fold(0, |set, (place, field)| {
        set | u8::from(field.is_in(mask)) << place
    })
}

#[cfg(test)]
mod tests;
