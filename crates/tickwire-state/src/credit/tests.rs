extern crate std;

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

const EQUAL: InputRate = InputRate {
    inputs_per_second: 60,
    ticks_per_second: 60,
};

/// How many of `wanted` inputs are taken.
fn take(credit: &mut InputCredit, wanted: u64) -> u64 {
    (0..wanted).filter(|_| credit.take().is_ok()).count() as u64
}

#[test]
fn twice_the_inputs_do_not_move_twice_as_fast() {
    let mut credit = InputCredit::new(EQUAL, 15);
    let taken: u64 = (0..600)
        .map(|_| {
            credit.add_ticks(1);
            take(&mut credit, 2)
        })
        .sum();
    // Ten seconds of ticks, and the allowance once; the first tick finds it full.
    assert_eq!(taken, 600 + 15 - 1);
    assert_eq!(credit.refused(), 1_200 - 614);
}

#[test]
fn a_late_burst_is_taken_whole() {
    let mut credit = InputCredit::new(EQUAL, 15);
    for silence in [15, 3, 9] {
        credit.add_ticks(silence);
        assert_eq!(take(&mut credit, silence), silence);
    }
    // It was full when the first silence began, so that one's ticks brought nothing.
    assert_eq!((credit.refused(), credit.available()), (0, 0));
}

#[test]
fn silence_is_not_saved_beyond_the_allowance() {
    let mut credit = InputCredit::new(EQUAL, 15);
    credit.add_ticks(u64::MAX);
    credit.add_ticks(100_000);
    assert_eq!(credit.available(), 15);
    assert_eq!(take(&mut credit, 1_000), 15);
}

#[test]
fn rates_that_do_not_divide_lose_nothing() {
    let rate = InputRate {
        inputs_per_second: 50,
        ticks_per_second: 60,
    };
    let mut credit = InputCredit::new(rate, 10);
    take(&mut credit, 10);
    let taken: u64 = (0..60 * 3_600)
        .map(|_| {
            credit.add_ticks(1);
            take(&mut credit, 2)
        })
        .sum();
    assert_eq!(taken, 50 * 3_600);
}

#[test]
#[should_panic(expected = "at least what a tick brings")]
fn an_allowance_below_a_tick_is_a_mistake() {
    let rate = InputRate {
        inputs_per_second: 60,
        ticks_per_second: 20,
    };
    InputCredit::new(rate, 2);
}

proptest! {
    /// Whatever the client does, over any span it has taken what the span's ticks bring, and once the
    /// allowance, at most.
    #[test]
    fn no_span_takes_more_than_its_ticks(
        inputs_per_second in 1..240_u32,
        ticks_per_second in 1..240_u32,
        spare in 0..20_u32,
        sent in proptest::collection::vec(0..40_u64, 1..80),
    ) {
        let rate = InputRate { inputs_per_second, ticks_per_second };
        let allowance = inputs_per_second.div_ceil(ticks_per_second) + spare;
        let mut credit = InputCredit::new(rate, allowance);
        let taken: Vec<u64> = sent
            .iter()
            .map(|sent| {
                credit.add_ticks(1);
                take(&mut credit, *sent)
            })
            .collect();
        for start in 0..taken.len() {
            let mut sum = 0;
            for (ticks, taken) in (1_u64..).zip(&taken[start..]) {
                sum += taken;
                let brought = ticks * u64::from(inputs_per_second) / u64::from(ticks_per_second);
                prop_assert!(sum <= brought + 1 + u64::from(allowance), "{} in {} ticks", sum, ticks);
            }
        }
    }

    /// Who keeps to the rate is never refused, however late his inputs come within the allowance.
    #[test]
    fn an_honest_client_is_never_refused(
        delays in proptest::collection::vec(0..10_usize, 200),
    ) {
        let mut credit = InputCredit::new(EQUAL, 15);
        let mut arriving = std::vec![0_u64; delays.len() + 10];
        for (made, delay) in delays.iter().enumerate() {
            arriving[made + delay] += 1;
        }
        for inputs in arriving {
            credit.add_ticks(1);
            prop_assert_eq!(take(&mut credit, inputs), inputs);
        }
    }
}
