//! Writing packets, in a form that is given or in those that are cheapest together.

use crate::pixmess::Writer;
use crate::pixmess::limits::{LOOK_AHEAD, LOOK_THROUGH};
use crate::pixmess::mask::{FIELDS_MAX, Form, Head, MaskedType, Masks, Plan, Values, Wanted};

/// A message that can be written.
///
/// A packet consists of type and mask, then fields that stand before the masked ones, the masked
/// ones, and fields behind them.
pub trait Packet: Sized {
    /// Its type.
    fn kind(&self) -> u8;
    /// What its masked fields shall say, if its type has any.
    fn masked(&self) -> Option<(MaskedType, Wanted)>;
    /// The bytes of all other fields.
    fn unmasked_size(&self) -> usize;
    /// Writes what stands before the masked fields.
    fn write_front(&self, w: &mut Writer<'_>);
    /// Writes what stands behind them.
    fn write_back(&self, w: &mut Writer<'_>);

    /// Writes the message in the form that is cheapest, considering those that will be written after
    /// it. For many messages, a [`Run`] finds that out once for all of them.
    fn encode<'a>(
        &'a self,
        masks: &mut Masks,
        later: impl Iterator<Item = &'a Self>,
        w: &mut Writer<'_>,
    ) {
        let run = Run::plan(masks, core::iter::once(self).chain(later));
        let step = run.steps.first().copied();
        write(self, masks, step.flatten(), w);
    }

    /// Writes the message in this form. If the form would make it say something else, or its type has
    /// no masks, nothing is written.
    fn encode_as(&self, form: Form, masks: &mut Masks, w: &mut Writer<'_>) -> Option<()> {
        let masked = match self.masked() {
            Some((of, wanted)) => {
                let values = masks.kept(of).values_under(of, form, &wanted)?;
                Some((of, form, values))
            }
            None if form == Form::Plain => None,
            None => return None,
        };
        write(self, masks, masked, w);
        Some(())
    }

    /// The bytes it takes if no mask spares any: it never takes more.
    fn plain_size(&self) -> usize {
        let masked = self.masked().map_or(0, |(of, _)| {
            of.fields().iter().map(|field| field.size()).sum::<usize>()
        });
        1 + masked + self.unmasked_size()
    }
}

/// The form and the values of a packet that has masks.
type Step = Option<(MaskedType, Form, Values)>;

/// Messages that are written one after another, and how.
///
/// The masks change only as the messages are written, so a run that is given up halfway does no harm;
/// but all that is written in between must be of it, or have no masks.
#[derive(Debug)]
pub struct Run {
    steps: [Step; LOOK_THROUGH],
    /// How many of them are to be followed.
    sure: usize,
}

impl Run {
    /// Plans the first [`LOOK_THROUGH`] of `messages`.
    pub fn plan<'a, P: Packet + 'a>(
        masks: &Masks,
        mut messages: impl Iterator<Item = &'a P>,
    ) -> Self {
        let mut masked = [None; LOOK_THROUGH];
        let mut count = 0;
        for (place, message) in masked.iter_mut().zip(messages.by_ref()) {
            *place = message.masked();
            count += 1;
        }
        let mut steps = [None; LOOK_THROUGH];
        for of in MaskedType::ALL {
            plan_type(of, masks, &masked, &mut steps);
        }
        // Where the view ends, a plan knows least.
        let sure = match messages.next() {
            None => count,
            Some(_) => count - LOOK_AHEAD,
        };
        Self { steps, sure }
    }

    /// How many of the messages are to be written before the rest is planned anew, with more in view.
    pub const fn sure(&self) -> usize {
        self.sure
    }

    /// Writes the message that has this place in the run.
    pub fn encode<P: Packet>(
        &self,
        place: usize,
        message: &P,
        masks: &mut Masks,
        w: &mut Writer<'_>,
    ) {
        write(message, masks, self.steps.get(place).copied().flatten(), w);
    }
}

/// Plans those messages of a run that are of one type.
fn plan_type(
    of: MaskedType,
    masks: &Masks,
    run: &[Option<(MaskedType, Wanted)>; LOOK_THROUGH],
    steps: &mut [Step; LOOK_THROUGH],
) {
    let of_type = |message: &Option<(MaskedType, Wanted)>| {
        message
            .filter(|(other, _)| *other == of)
            .map(|(_, wanted)| wanted)
    };
    if !run.iter().any(|message| of_type(message).is_some()) {
        return;
    }
    let mut wanted = [[None; FIELDS_MAX]; LOOK_THROUGH];
    let mut count = 0;
    for (place, found) in wanted.iter_mut().zip(run.iter().filter_map(of_type)) {
        *place = found;
        count += 1;
    }
    let plan = Plan::new(of, masks.kept(of), wanted.get(..count).unwrap_or_default());
    let places = steps.iter_mut().zip(run);
    let places = places.filter_map(|(step, message)| of_type(message).map(|_| step));
    for (step, (form, values)) in places.zip(plan.steps()) {
        *step = Some((of, form, values));
    }
}

fn write<P: Packet>(
    packet: &P,
    masks: &mut Masks,
    masked: Option<(MaskedType, Form, Values)>,
    w: &mut Writer<'_>,
) {
    let form = masked.map_or(Form::Plain, |(_, form, _)| form);
    let kind = packet.kind();
    Head { kind, form }.encode(w);
    packet.write_front(w);
    if let Some((of, form, values)) = masked {
        let mut kept = *masks.kept(of);
        kept.write(w, of, form, &values);
        masks.set(of, kept);
    }
    packet.write_back(w);
}
