//! Player ids that nobody can guess.
//!
//! In: ids whose generations count 0, 1, 2, … at each place. Out: ids whose generations come in an order
//! that only the server's secret tells, none twice before all 65,536 were used. Whoever names such an id
//! has received the Join that told it, and so has the address that its packets carry.

use core::fmt;

use sha2::{Digest, Sha256};

use crate::lwar::Id;

/// A keyed permutation of generations.
pub(super) struct Generations {
    secret: [u8; 32],
}

/// Rounds of the Feistel network. Four make a permutation that cannot be told from a random one.
const ROUNDS: u8 = 4;

impl Generations {
    /// The bytes must be a secret of this server, and new for every run.
    pub(super) const fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// The id to give out in place of `id`.
    pub(super) fn permute(&self, id: Id) -> Id {
        // A Feistel network is a permutation whatever its round function is, so no id comes twice.
        let [mut left, mut right] = id.generation.to_be_bytes();
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(id.index, round, right));
        }
        Id {
            generation: u16::from_be_bytes([left, right]),
            index: id.index,
        }
    }

    fn round(&self, index: u16, round: u8, half: u8) -> u8 {
        let [high, low] = index.to_be_bytes();
        let hash = Sha256::new()
            .chain_update(self.secret)
            .chain_update([high, low, round, half])
            .finalize();
        hash.first().copied().unwrap_or_default()
    }
}

impl fmt::Debug for Generations {
    /// Leaves out the secret: what is printed for debugging ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generations").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::format;

    use super::*;

    fn permuted(secret: [u8; 32], index: u16, generation: u16) -> u16 {
        let id = Id { generation, index };
        Generations::new(secret).permute(id).generation
    }

    #[test]
    fn no_generation_comes_twice() {
        let seen: BTreeSet<_> = (0..4_096).map(|n| permuted([7; 32], 1, n)).collect();
        assert_eq!(seen.len(), 4_096);
    }

    #[test]
    fn the_order_depends_on_the_secret_and_the_place() {
        let order = |secret, index| [0, 1, 2, 3].map(|n| permuted(secret, index, n));
        assert_ne!(order([7; 32], 1), order([8; 32], 1));
        assert_ne!(order([7; 32], 1), order([7; 32], 2));
    }

    #[test]
    fn the_secret_is_not_printed() {
        let printed = format!("{:?}", Generations::new([0xab; 32]));
        assert_eq!(printed, "Generations { .. }");
    }
}
