use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::pixmess::Writer;
use crate::pixmess::limits::LOOK_AHEAD;
use crate::pixmess::mask::{MaskedType, Masks};

/// Writes `packets` with up to `ahead` of them known in advance; the bytes of each, its type
/// included, and the forms.
fn write(of: MaskedType, ahead: usize, packets: &[Wanted]) -> (Vec<usize>, Vec<Form>) {
    let mut kept = *Masks::default().kept(of);
    let mut sizes = vec![];
    let mut forms = vec![];
    for at in 0..packets.len() {
        let end = (at + ahead).min(packets.len());
        let plan = Plan::new(of, &kept, &packets[at..end]);
        let (form, values) = plan.steps().next().unwrap();
        for (value, wanted) in values.iter().zip(&packets[at]) {
            assert!(wanted.is_none_or(|wanted| wanted == *value));
        }
        assert_eq!(
            kept.values_under(of, form, &values.map(Some)),
            Some(values),
            "{form:?} cannot say it"
        );
        let mut out = vec![];
        let mut w = Writer::new(&mut out, 100);
        kept.write(&mut w, of, form, &values);
        let head = match form {
            Form::Defined(_) => 2,
            Form::Plain | Form::Stored => 1,
        };
        sizes.push(head + out.len());
        forms.push(form);
    }
    (sizes, forms)
}

/// Packets with one field of one byte.
fn bytes(values: &[Option<u32>]) -> Vec<Wanted> {
    let packet = |&value| [value, None, None, None, None];
    values.iter().map(packet).collect()
}

/// Bytes of all fields and masks, with every packet known in advance and with none.
#[track_caller]
fn check_bytes(values: &[Option<u32>], foreseen: usize, unforeseen: usize) {
    let packets = bytes(values);
    for (ahead, expected) in [(LOOK_AHEAD, foreseen), (1, unforeseen)] {
        let (sizes, forms) = write(MaskedType::OwnMovement, ahead, &packets);
        let total: usize = sizes.iter().sum();
        assert_eq!(total - packets.len(), expected, "{ahead} ahead: {forms:?}");
    }
}

const ANY: Option<u32> = None;

#[test]
fn a_byte_said_twice_is_not_worth_a_mask() {
    // The naive way takes five.
    check_bytes(&[Some(3), Some(3), Some(2), Some(5)], 4, 4);
    let packets = bytes(&[Some(3), Some(3), Some(2), Some(5)]);
    let (_, forms) = write(MaskedType::OwnMovement, LOOK_AHEAD, &packets);
    assert_eq!(forms, [Form::Plain; 4]);
}

#[test]
fn a_byte_said_three_times_is() {
    check_bytes(&[Some(3), Some(3), Some(3), Some(3)], 2, 3);
}

#[test]
fn two_bytes_said_twice_cost_the_same_or_less() {
    let ids = [3, 3, 2, 5].map(|id| [Some(id), Some(0), None, None, None]);
    for ahead in [1, LOOK_AHEAD] {
        let (sizes, _) = write(MaskedType::EntityMovement, ahead, &ids);
        // Plain, each would take four.
        assert!(sizes.iter().sum::<usize>() < 16, "{sizes:?}");
    }
}

#[test]
fn what_nobody_cares_about_stays_as_it_is_if_it_comes_again() {
    check_bytes(&[Some(3), ANY, Some(3)], 2, 3);
    let packets = bytes(&[Some(3), ANY, Some(3)]);
    let (_, forms) = write(MaskedType::OwnMovement, LOOK_AHEAD, &packets);
    assert_eq!(forms, [Form::Plain, Form::Defined(1), Form::Stored]);
}

#[test]
fn what_nobody_cares_about_says_what_comes_next() {
    // Three with foresight. Without any it is as good as can be.
    check_bytes(&[Some(3), ANY, Some(2), Some(2)], 3, 4);
}

#[test]
fn a_mask_that_serves_others_is_not_given_up_for_one_byte() {
    // Entity 7 walks: its id is masked. The direction said twice does not change that.
    let step = |dir| [Some(7), Some(dir), None, None, None];
    let walk = [0, 1, 2, 2, 3, 1].map(step);
    for ahead in [1, LOOK_AHEAD] {
        let (sizes, _) = write(MaskedType::EntityMovement, ahead, &walk);
        assert_eq!(sizes[1..], [3, 2, 2, 2, 2], "{ahead} ahead");
    }
}

#[test]
fn a_straight_walk_takes_one_byte_a_step() {
    let walk = [[Some(7), Some(5), None, None, None]; 10];
    for ahead in [1, LOOK_AHEAD] {
        let (sizes, _) = write(MaskedType::EntityMovement, ahead, &walk);
        assert_eq!(sizes, [4, 2, 1, 1, 1, 1, 1, 1, 1, 1], "{ahead} ahead");
    }
}

#[test]
fn zeros_need_not_be_said_even_at_first() {
    let (sizes, forms) = write(MaskedType::EntityMovement, 1, &[[Some(0); 5]]);
    assert_eq!((sizes[0], forms[0]), (2, Form::Defined(0b11)));
}

#[test]
fn a_wall_of_one_kind_takes_three_bytes_a_block() {
    // A row: x changes, and nothing else.
    let block = |x| [Some(x), Some(9), Some(1), Some(7), Some(35)];
    let row: Vec<_> = (100..110).map(block).collect();
    for ahead in [1, LOOK_AHEAD] {
        let (sizes, _) = write(MaskedType::BlockSetSolid, ahead, &row);
        assert_eq!(sizes, [8, 4, 3, 3, 3, 3, 3, 3, 3, 3], "{ahead} ahead");
    }
}

/// The fewest bytes in which packets can be written, by trying every form for each of them.
fn fewest(of: MaskedType, kept: Kept, packets: &[Wanted]) -> usize {
    let Some((first, rest)) = packets.split_first() else {
        return 0;
    };
    let forms = [Form::Plain, Form::Stored].into_iter();
    let forms = forms.chain((0..=0b11).map(Form::Defined));
    let ways = forms.filter_map(|form| {
        let mut kept = kept;
        let values = kept.values_under(of, form, first)?;
        let mut out = vec![];
        kept.write(&mut Writer::new(&mut out, 100), of, form, &values);
        let head = 1 + usize::from(matches!(form, Form::Defined(_)));
        Some(head + out.len() + fewest(of, kept, rest))
    });
    ways.min().expect("the plain form can say anything")
}

#[test]
fn within_sight_no_way_is_cheaper() {
    // All sequences of five movements of two entities in two directions.
    for code in 0..4_u32.pow(5) {
        let packet = |at: u32| {
            let digit = code >> (2 * at);
            [
                Some(7 + (digit & 1)),
                Some(digit >> 1 & 1),
                None,
                None,
                None,
            ]
        };
        let packets: Vec<Wanted> = (0..5).map(packet).collect();
        let (sizes, _) = write(MaskedType::EntityMovement, LOOK_AHEAD, &packets);
        let best = fewest(MaskedType::EntityMovement, Kept::default(), &packets);
        assert_eq!(sizes.iter().sum::<usize>(), best, "{packets:?}");
        assert!(sizes.iter().all(|&size| size <= 4));
    }
}
