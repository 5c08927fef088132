//! Estimating the share of a peer's packets that get lost.

/// The lost share of the last hundred or so packets, from the gaps in a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// `None` until a first packet came: before it nothing can be missing.
    share: Option<f32>,
}

/// How much one packet counts against all before it.
const WEIGHT: f32 = 1.0 / 100.0;

/// A gap beyond this is an interruption and says no more about loss than this many.
const GAP_MAX: u32 = 100;

impl Loss {
    /// Nothing seen yet.
    pub const fn new() -> Self {
        Self { share: None }
    }

    /// A packet arrived, and so many before it did not.
    pub fn add_arrival(&mut self, missing: u32) {
        let Some(share) = &mut self.share else {
            self.share = Some(0.0);
            return;
        };
        for _ in 0..missing.min(GAP_MAX) {
            *share += (1.0 - *share) * WEIGHT;
        }
        *share -= *share * WEIGHT;
    }

    /// The lost share, 0 to 1.
    pub const fn share(&self) -> Option<f32> {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_loss_is_found() {
        let mut loss = Loss::new();
        assert_eq!(loss.share(), None);
        for _ in 0..500 {
            // Four arrive, one is missing.
            loss.add_arrival(1);
            (0..3).for_each(|_| loss.add_arrival(0));
        }
        let share = loss.share().unwrap();
        assert!((share - 0.2).abs() < 0.02, "{share}");
    }

    #[test]
    fn an_interruption_fades() {
        let mut loss = Loss::new();
        loss.add_arrival(0);
        loss.add_arrival(u32::MAX);
        assert!(loss.share().unwrap() > 0.5);
        (0..1_000).for_each(|_| loss.add_arrival(0));
        assert!(loss.share().unwrap() < 0.01);
    }
}
