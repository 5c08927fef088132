//! What a person who plays may see of what the client knows.
//!
//! A user is not told everything that client and server say to each other: not tokens, repetitions,
//! or what the client got wrong; not states that are out of date. What is left is enough to draw a
//! picture and to say what became of the user's own actions.

use core::fmt;

use tickwire_session::{ActionNumber, Failure, Instant, Reason};

use super::{Client, ClientEvent, EndReason, Phase};
use crate::cppevy::{ActionId, Archetype, Component, EventId, SyncId};

/// A client as its user sees it.
#[derive(Clone, Copy)]
pub struct User<'a> {
    client: &'a Client,
}

impl<'a> User<'a> {
    pub(super) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// The user's own entity, while it plays.
    pub const fn actor(self) -> Option<SyncId> {
        match self.client.phase {
            Phase::Attaching | Phase::Playing => self.client.actor,
            _ => None,
        }
    }

    /// The entities of which something is known that is true now, and what they are.
    pub fn entities(self, now: Instant) -> impl Iterator<Item = (SyncId, Archetype)> + 'a {
        let shown = move |(id, _): &(SyncId, &super::Entity)| {
            (0..Component::COUNT)
                .filter_map(Component::new)
                .any(|component| self.state(now, *id, component).is_some())
        };
        self.client
            .entities()
            .filter(shown)
            .map(|(id, entity)| (id, entity.archetype))
    }

    /// A state that is not out of date.
    pub fn state(self, now: Instant, entity: SyncId, component: Component) -> Option<&'a [u8]> {
        self.client.state(now, entity, component)
    }

    /// The user's actions that are shown before they are answered.
    pub fn assumed(self) -> impl Iterator<Item = (ActionNumber, ActionId, &'a [u8])> {
        self.client.assumed()
    }
}

impl fmt::Debug for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("actor", &self.actor())
            .finish_non_exhaustive()
    }
}

/// What a user is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// The game began.
    Began,
    /// Somebody else plays.
    Joined(SyncId),
    /// Somebody else plays no longer.
    Left(SyncId),
    /// Something happened.
    Happened {
        /// What kind.
        event: EventId,
        /// What else there is to say.
        data: &'a [u8],
    },
    /// What the user wanted was done.
    Done {
        /// What kind of action it was.
        action: ActionId,
    },
    /// It was not done; the user may try again later.
    TryLater {
        /// What kind of action it was.
        action: ActionId,
    },
    /// It was not done, and is never done here.
    NotHere {
        /// What kind of action it was.
        action: ActionId,
    },
    /// Content is being fetched.
    Fetching {
        /// What it is called.
        name: &'a str,
        /// How much of it is there, 0 to 100.
        percent: u8,
    },
    /// It is over.
    Ended(EndReason),
}

impl ClientEvent {
    /// What a user is told of this, if anything.
    pub fn notice(&self) -> Option<Notice<'_>> {
        Some(match self {
            Self::Joined { .. } => Notice::Began,
            Self::ActorJoined(actor) => Notice::Joined(*actor),
            Self::ActorLeft(actor) => Notice::Left(*actor),
            Self::Happened { event, data, .. } => Notice::Happened {
                event: *event,
                data,
            },
            Self::Succeeded { action, .. } => Notice::Done { action: *action },
            Self::Failed { action, why, .. } => of_failure(*action, *why)?,
            Self::InputRefused { action, reason } => {
                of_failure(*action, Failure::Refused(*reason))?
            }
            Self::AssetProgress {
                name,
                received,
                total,
            } => Notice::Fetching {
                name,
                percent: percent(*received, *total),
            },
            Self::AssetFetched { name, .. } => Notice::Fetching { name, percent: 100 },
            Self::Ended(why) => Notice::Ended(*why),
            Self::Attached | Self::Summoned(_) | Self::Dismissed(..) | Self::AssetFailed { .. } => {
                return None;
            }
        })
    }
}

fn of_failure(action: ActionId, why: Failure) -> Option<Notice<'static>> {
    match why {
        Failure::Refused(Reason::Disabled) => Some(Notice::NotHere { action }),
        // The client is wrong, not the user.
        Failure::Refused(Reason::Error) => None,
        Failure::Refused(_) | Failure::TimedOut => Some(Notice::TryLater { action }),
        // The user is told that it is over.
        Failure::Disconnected => None,
    }
}

fn percent(part: u32, whole: u32) -> u8 {
    let percent = u64::from(part) * 100 / u64::from(whole.max(1));
    u8::try_from(percent).unwrap_or(100).min(100)
}
