//! Estimating the share of packets that get lost, or of states that are held back.

/// The missing share of the last hundred or so, from the gaps in a sequence.
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

    /// A packet arrived, and so many before it did not. Before the first, nobody knows what was sent.
    pub fn add_arrival(&mut self, missing: u32) {
        let missing = self.share.map_or(0, |_| missing.min(GAP_MAX));
        (0..missing).for_each(|_| self.add_missing());
        let share = self.share.get_or_insert(0.0);
        *share -= *share * WEIGHT;
    }

    /// One did not arrive.
    pub fn add_missing(&mut self) {
        let share = self.share.get_or_insert(0.0);
        *share += (1.0 - *share) * WEIGHT;
    }

    /// The missing share, 0 to 1.
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
