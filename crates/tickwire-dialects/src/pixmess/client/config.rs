//! Whom to connect to, and as whom.

use alloc::string::String;

use tickwire_session::Addr;

use crate::pixmess::message::{Look, Version};
use crate::pixmess::name::BadName;

/// Whom to connect to, and as whom.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub(super) server: Addr,
    /// The newest version to speak.
    pub(super) version: Version,
    pub(super) name: String,
    /// What the player looks like.
    pub look: Look,
}

impl ClientConfig {
    /// A player who looks like nothing yet. A name has 1 to 32 bytes of text without control
    /// characters; an empty one makes a spectator, in version 2.
    ///
    /// A server that does not speak version 2 is tried once more with version 1, unless it is to be
    /// watched: that cannot be done in version 1.
    pub fn new(server: Addr, version: Version, name: &str) -> Result<Self, BadName> {
        BadName::check(version, name)?;
        Ok(Self {
            server,
            version,
            name: name.into(),
            look: Look::default(),
        })
    }

    /// Whether version 1 is to be tried if the server does not speak this one.
    pub(super) const fn can_step_down(&self) -> bool {
        matches!(self.version, Version::Two) && !self.name.is_empty()
    }
}
