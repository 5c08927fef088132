//! What `serve` lets one choose of reone.
//!
//! In: options of the command line. Out: the protocol's own settings, or a sentence that says why they make
//! no sense: an option that would change nothing is not taken in silence.

use std::time::Duration;

use tickwire_demo::gateway::{Protocol, ReoneSettings};

use crate::misuse::Misuse;

/// Options that only reone has.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of reone")]
pub(super) struct ReoneArgs {
    /// Compress snapshots with Huffman coding.
    #[arg(long)]
    huffman: bool,

    /// Begin a new round so often: everybody on reone loads the next module.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u16).range(1..))]
    round: Option<u16>,
}

impl ReoneArgs {
    /// What was chosen, for a server of these protocols.
    pub(super) fn settings(&self, protocols: &[&Protocol]) -> Result<ReoneSettings, Misuse> {
        let chosen = [
            ("--huffman", self.huffman),
            ("--round", self.round.is_some()),
        ];
        let is_served = protocols.iter().any(|protocol| protocol.name == "reone");
        let idle = chosen
            .iter()
            .find(|(_, is_chosen)| *is_chosen && !is_served);
        if let Some((option, _)) = idle {
            return Err(Misuse(format!(
                "{option} is an option of reone, which is not among the protocols that are served: add \
                 reone, or leave {option} out"
            )));
        }
        let minutes = |minutes: u16| Duration::from_secs(60 * u64::from(minutes));
        Ok(ReoneSettings {
            huffman: self.huffman,
            round: self.round.map(minutes),
            ..ReoneSettings::default()
        })
    }
}
