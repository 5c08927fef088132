//! Choosing the forms in which packets are cheapest together.
//!
//! A field that says the same again can be left out, but saying so costs a byte when the mask has to
//! change. For a field of one byte that gains nothing unless the mask serves again; and storing a mask
//! gives up the one that was stored. So the packets that already wait are looked at, and the cheapest
//! way to write all of them is found.
//!
//! Three things keep that small. Types do not share masks, so only packets of one type matter. The
//! values after each packet are the same whichever form is chosen, so the stored mask is all that
//! distinguishes two ways to get there: at most 32 masks, and 4 for a movement. And defining a mask
//! costs the same whatever was stored before. So one pass from the last packet to the first finds
//! what is best for all. No packet ever takes more bytes than its plain form.

use super::{FIELDS_MAX, Field, Form, Kept, MaskedType, Values, Wanted};
use crate::pixmess::limits::LOOK_THROUGH;

/// How packets of one type are to be written.
#[derive(Debug)]
pub struct Plan {
    forms: [Form; LOOK_THROUGH],
    rows: [Values; LOOK_THROUGH],
    count: usize,
}

impl Plan {
    /// Plans `wanted`, which are packets of one type in the order in which they will be written. Only
    /// [`LOOK_THROUGH`] are looked at.
    ///
    /// A field that nobody cares about either takes the value that comes next or keeps the one it
    /// has, as it turns out cheaper.
    pub fn new(of: MaskedType, kept: &Kept, wanted: &[Wanted]) -> Self {
        let wanted = wanted.get(..LOOK_THROUGH).unwrap_or(wanted);
        let fields = of.fields().len();
        let cares = |wanted: &Wanted| wanted.iter().take(fields).all(Option::is_some);
        let (next, cost) = Self::filled(of, kept, wanted, Filling::Next);
        if wanted.iter().all(cares) {
            return next;
        }
        let (old, cost_of_old) = Self::filled(of, kept, wanted, Filling::Old);
        if cost_of_old < cost { old } else { next }
    }

    /// The form of each packet, and the values of its fields.
    pub fn steps(&self) -> impl Iterator<Item = (Form, Values)> {
        let steps = self.forms.iter().zip(&self.rows).take(self.count);
        steps.map(|(form, values)| (*form, *values))
    }

    /// A plan with every field filled, and what it costs.
    fn filled(of: MaskedType, kept: &Kept, wanted: &[Wanted], filling: Filling) -> (Self, u32) {
        let mut plan = Self {
            forms: [Form::Plain; LOOK_THROUGH],
            rows: [Values::default(); LOOK_THROUGH],
            count: wanted.len(),
        };
        plan.fill(kept, wanted, filling);
        let cost = plan.choose(of, kept);
        (plan, cost)
    }

    fn fill(&mut self, kept: &Kept, wanted: &[Wanted], filling: Filling) {
        let mut before = kept.old;
        for (at, (row, packet)) in self.rows.iter_mut().zip(wanted).enumerate() {
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
    }

    /// Chooses the forms; what it costs to write all packets in them.
    fn choose(&mut self, of: MaskedType, kept: &Kept) -> u32 {
        let fields = of.fields();
        let prices = Prices::of(of);
        let mut steps = [Step::default(); LOOK_THROUGH];
        let steps = steps.get_mut(..self.count).unwrap_or_default();
        let mut before = &kept.old;
        for (step, row) in steps.iter_mut().zip(&self.rows) {
            step.repeated = equal(fields, before, row);
            before = row;
        }
        // Whatever the last two packets repeated may well be repeated by the one that nobody sees
        // yet.
        let habit = match *steps {
            [] => return 0,
            [only] => only.repeated & kept.repeated,
            [.., last_but_one, last] => last_but_one.repeated & last.repeated,
        };
        let mut after = prices.guess(habit);
        for step in steps.iter_mut().rev() {
            prices.decide(step, &mut after);
        }
        let mut stored = places_of(fields, kept.mask);
        let cost = cost_in(&after, stored);
        for (form, step) in self.forms.iter_mut().zip(steps) {
            *form = match () {
                () if step.defines >> stored & 1 == 1 => {
                    stored = step.set;
                    Form::Defined(mask_of(fields, stored))
                }
                () if stored != 0 && is_within(stored, step.repeated) => Form::Stored,
                () => Form::Plain,
            };
        }
        cost
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

/// What is known and decided of one packet.
#[derive(Clone, Copy, Default)]
struct Step {
    /// The fields that say the same as in the packet before.
    repeated: Places,
    /// The best set to define, if any is.
    set: Places,
    /// For which stored sets that is cheaper than keeping them: bit *n* for the set *n*.
    defines: u32,
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
    /// The bytes of the fields that are sent when those of a set are not.
    sent_without: [u32; SETS],
    all: Places,
}

impl Prices {
    const fn of(of: MaskedType) -> &'static Self {
        const BLOCK: Prices = Prices::new(MaskedType::BlockSetSolid.fields());
        const MOVEMENT: Prices = Prices::new(MaskedType::EntityMovement.fields());
        const OWN_MOVEMENT: Prices = Prices::new(MaskedType::OwnMovement.fields());
        const CREATION: Prices = Prices::new(MaskedType::EntityCreation.fields());
        match of {
            MaskedType::BlockSetSolid | MaskedType::BlockSetWalkable => &BLOCK,
            MaskedType::EntityMovement => &MOVEMENT,
            MaskedType::OwnMovement => &OWN_MOVEMENT,
            MaskedType::EntityCreation => &CREATION,
        }
    }

    #[expect(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        reason = "the compiler evaluates it, and would see"
    )]
    const fn new(fields: &[Field]) -> Self {
        let mut sent_without = [0; SETS];
        let mut set = 0;
        while set < SETS {
            let mut place = 0;
            while place < fields.len() {
                if set >> place & 1 == 0 {
                    sent_without[set] += fields[place].size() as u32;
                }
                place += 1;
            }
            set += 1;
        }
        Self {
            sent_without,
            all: !(Places::MAX << fields.len()),
        }
    }

    /// The bytes of a packet after its type, if those of `stored` are left out wherever they can be.
    fn sent(&self, stored: Places, repeated: Places) -> u32 {
        let left_out = if is_within(stored, repeated) {
            stored
        } else {
            0
        };
        cost_in(&self.sent_without, left_out)
    }

    /// What the packet after all that are known would cost, if it repeats what is the habit.
    fn guess(&self, habit: Places) -> After {
        let mut costs = [0; SETS];
        for (stored, cost) in (0..=self.all).zip(&mut costs) {
            *cost = self.sent(stored, habit);
        }
        costs
    }

    /// Decides when to define a mask in a packet, and adds the packet to the cost of what follows.
    ///
    /// Defining an empty mask would be a byte for nothing: the plain form leaves nothing out either.
    fn decide(&self, step: &mut Step, after: &mut After) {
        let mut define = u32::MAX;
        for set in (1..=self.all).filter(|&set| is_within(set, step.repeated)) {
            let cost = (2 + cost_in(&self.sent_without, set)) * BYTE + cost_in(after, set);
            if cost < define {
                define = cost;
                step.set = set;
            }
        }
        for (stored, cost) in (0..=self.all).zip(after) {
            let keep = (1 + self.sent(stored, step.repeated)) * BYTE + *cost;
            step.defines |= u32::from(define < keep) << stored;
            *cost = keep.min(define);
        }
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
