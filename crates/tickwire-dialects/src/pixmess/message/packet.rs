//! Writing a packet, in a form that is given or the one that is cheapest.

use super::super::Writer;
use super::super::limits::{LOOK_AHEAD, LOOK_THROUGH};
use super::super::mask::{Form, Head, MaskedType, Masks, Values, Wanted, plan};

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
    /// it.
    fn encode<'a>(
        &self,
        masks: &mut Masks,
        later: impl Iterator<Item = &'a Self>,
        w: &mut Writer<'_>,
    ) where
        Self: 'a,
    {
        let Some((of, wanted)) = self.masked() else {
            return write(self, masks, None, w);
        };
        let mut ahead = [wanted; LOOK_AHEAD];
        let same_type = later
            .take(LOOK_THROUGH)
            .filter_map(|later| later.masked().filter(|(other, _)| *other == of));
        let mut count = 1;
        for (place, (_, wanted)) in ahead.iter_mut().skip(1).zip(same_type) {
            *place = wanted;
            count += 1;
        }
        let seen = ahead.get(..count).unwrap_or(&ahead);
        let (form, values) = plan(of, masks.kept(of), seen);
        write(self, masks, Some((of, form, values)), w);
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
