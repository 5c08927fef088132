//! Resources on their way from a server.
//!
//! In: a manifest, what is held already, and pieces as they come. Out: what to ask for next and from
//! which offset, how far it is, and whole resources, each as the manifest says. When a connection
//! breaks, what came stays, with its half-done hash; a new manifest keeps what is still listed.
//! Memory follows the bytes that came, never a size that was only announced.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use sha2::{Digest, Sha256};

use tickwire_wire::display_enum;

use super::{CONTENT_MAX, ContentHash, Listed, Manifest, Piece};

/// The memory that is reserved for a resource's first piece; it doubles from there.
const RESERVE_FIRST: usize = 1 << 20;

/// A resource to ask for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// Which one.
    pub name: String,
    /// From which byte on: what is before it is held.
    pub offset: u64,
}

/// A resource that is there, and as listed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fetched {
    /// Which one.
    pub name: String,
    /// What it hashes to.
    pub hash: ContentHash,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// How far a piece has brought things.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress<'a> {
    /// The piece's resource.
    pub name: &'a str,
    /// Bytes of it that are held.
    pub have: u64,
    /// Bytes that it has.
    pub of: u64,
    /// All resources together.
    pub overall: Overall,
}

/// How far a fetching is, in bytes and in resources. What was held before it began does not count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Overall {
    /// Bytes that are held.
    pub have: u64,
    /// Bytes there are to fetch.
    pub of: u64,
    /// Resources that are whole.
    pub fetched: usize,
    /// Resources there are to fetch.
    pub resources: usize,
}

display_enum! {
    /// Why something cannot be fetched.
    #[derive(Clone, Debug, Eq, PartialEq)]
    pub enum FetchError: Error {
        /// What there is to fetch has more than [`CONTENT_MAX`] bytes together.
        TooLarge => "the resources have more than {CONTENT_MAX} bytes",
        /// A piece of something that was not asked for.
        Unasked => "a piece of a resource that was not asked for",
        /// A piece that is not the next one of this resource, or not of a resource of the size listed.
        Misplaced {
            /// The resource.
            name: String,
        } => "a piece of {name} out of place",
        /// The resource is complete, and not what is listed. What came of it is forgotten: if it is asked
        /// for again, then from its beginning.
        Mismatch {
            /// The resource.
            name: String,
        } => "{name} does not have the hash that is listed",
    }
}

/// Everything of a manifest that is not held, on its way.
#[derive(Debug)]
pub struct Fetching {
    resources: BTreeMap<String, Resource>,
    /// Names to ask for, in the order of the manifest.
    queue: VecDeque<String>,
    /// The most that may be asked for and not be whole.
    ahead: usize,
    /// Names that were asked for and are not whole, in the order of asking.
    asked: VecDeque<String>,
    fetched: VecDeque<Fetched>,
    overall: Overall,
}

#[derive(Debug)]
struct Resource {
    size: u64,
    hash: ContentHash,
    stage: Stage,
    bytes: Vec<u8>,
    /// Of `bytes`.
    hasher: Sha256,
    /// Its last byte came, and the empty piece behind it, which not every protocol has, may follow.
    end_due: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Wanted,
    Asked,
    /// Handed out; `bytes` is empty.
    Whole,
}

impl Fetching {
    /// Fetches everything that is listed, except where `holds` says that the application has it:
    /// contents are known by their hash, whatever their names are.
    pub fn new(
        manifest: &Manifest,
        holds: impl FnMut(&Listed) -> bool,
    ) -> Result<Self, FetchError> {
        let mut fetching = Self {
            resources: BTreeMap::new(),
            queue: VecDeque::new(),
            ahead: 1,
            asked: VecDeque::new(),
            fetched: VecDeque::new(),
            overall: Overall::default(),
        };
        fetching.restart(manifest, holds)?;
        Ok(fetching)
    }

    /// Asks for up to so many resources before the first of them is whole, so that many small ones do
    /// not take a round trip each. One, if nothing else is said; a server may refuse more.
    #[must_use]
    pub fn ask_ahead(mut self, resources: usize) -> Self {
        self.ahead = resources.max(1);
        self
    }

    /// Goes on with a new manifest on a new connection. What came of resources that are listed as
    /// before is kept; what is no longer listed is forgotten. `holds` must know what was handed out
    /// before. Nothing changes if the manifest is refused.
    pub fn restart(
        &mut self,
        manifest: &Manifest,
        mut holds: impl FnMut(&Listed) -> bool,
    ) -> Result<(), FetchError> {
        let wanted: Vec<&Listed> = manifest.listed().iter().filter(|it| !holds(it)).collect();
        let sizes = wanted.iter().map(|listed| listed.size);
        if sizes.fold(0, u64::saturating_add) > CONTENT_MAX {
            return Err(FetchError::TooLarge);
        }
        // Without bytes there is nothing to ask for, and nothing that could come and be wrong later.
        let nothing = ContentHash::of(&[]);
        let wrong = |listed: &&&Listed| listed.size == 0 && listed.hash != nothing;
        if let Some(wrong) = wanted.iter().find(wrong) {
            let name = wrong.name.clone();
            return Err(FetchError::Mismatch { name });
        }

        let mut before = mem::take(&mut self.resources);
        self.queue.clear();
        self.asked.clear();
        self.overall = Overall {
            resources: wanted.len(),
            ..Overall::default()
        };
        for Listed { name, size, hash } in wanted {
            let mut resource = before
                .remove(name)
                .filter(|kept| kept.hash == *hash && kept.size == *size)
                .unwrap_or_else(|| Resource::new(*size, *hash));
            resource.forget_connection();
            self.overall.of += size;
            self.overall.have += resource.have();
            self.resources.insert(name.clone(), resource);
            if *size == 0 {
                self.hand_out(name);
            } else {
                self.queue.push_back(name.clone());
            }
        }
        Ok(())
    }

    /// The connection ended: what was asked for and is not whole is to be asked for again, from where
    /// it is.
    pub fn disconnect(&mut self) {
        for (name, resource) in &mut self.resources {
            if resource.stage == Stage::Asked {
                self.queue.push_front(name.clone());
            }
            if resource.stage != Stage::Whole {
                resource.forget_connection();
            }
        }
        self.asked.clear();
    }

    /// The next resource to ask for, which counts as asked for.
    pub fn poll_request(&mut self) -> Option<Request> {
        if self.asked.len() >= self.ahead {
            return None;
        }
        let name = self.queue.pop_front()?;
        let resource = self.resources.get_mut(&name)?;
        resource.stage = Stage::Asked;
        self.asked.push_back(name.clone());
        let offset = resource.have();
        Some(Request { name, offset })
    }

    /// A piece came. After an error nothing of that resource will fit: a connection that brings
    /// such pieces is best ended, and the resource asked for on the next.
    pub fn handle_piece(
        &mut self,
        name: &str,
        piece: Piece<'_>,
    ) -> Result<Progress<'_>, FetchError> {
        let resource = self.resources.get_mut(name).ok_or(FetchError::Unasked)?;
        if piece.is_end() && mem::take(&mut resource.end_due) {
            return self.progress(name);
        }
        if resource.stage != Stage::Asked {
            return Err(FetchError::Unasked);
        }
        if !resource.is_followed_by(piece) {
            let name = name.into();
            return Err(FetchError::Misplaced { name });
        }
        resource.append(piece.bytes);
        self.overall.have += piece.bytes.len() as u64;
        if resource.have() == resource.size {
            self.complete(name)?;
        }
        self.progress(name)
    }

    /// The server, which answers in the order of asking, refused a resource. It is given up until the
    /// next manifest. Returns its name; `None` if nothing is asked for.
    pub fn handle_refusal(&mut self) -> Option<String> {
        let name = self.asked.pop_front()?;
        if let Some(refused) = self.resources.remove(&name) {
            self.overall.resources -= 1;
            self.overall.of -= refused.size;
            self.overall.have -= refused.have();
        }
        Some(name)
    }

    /// The next resource that is whole.
    pub fn poll_fetched(&mut self) -> Option<Fetched> {
        self.fetched.pop_front()
    }

    /// How far everything is.
    pub const fn overall(&self) -> Overall {
        self.overall
    }

    /// The resources that are asked for and not whole, in the order of asking.
    pub fn asked(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().map(String::as_str)
    }

    /// Whether every resource is whole, and was taken.
    pub fn is_complete(&self) -> bool {
        self.overall.fetched == self.overall.resources && self.fetched.is_empty()
    }

    /// All bytes of a resource are there.
    fn complete(&mut self, name: &str) -> Result<(), FetchError> {
        self.asked.retain(|asked| asked != name);
        let Some(resource) = self.resources.get_mut(name) else {
            return Ok(());
        };
        resource.end_due = true;
        let hash = mem::take(&mut resource.hasher).finalize();
        if ContentHash(hash.into()) == resource.hash {
            self.hand_out(name);
            return Ok(());
        }
        resource.bytes = Vec::new();
        resource.stage = Stage::Wanted;
        self.overall.have -= resource.size;
        self.queue.push_back(name.into());
        Err(FetchError::Mismatch { name: name.into() })
    }

    fn hand_out(&mut self, name: &str) {
        if let Some(resource) = self.resources.get_mut(name) {
            resource.stage = Stage::Whole;
            self.overall.fetched += 1;
            self.fetched.push_back(Fetched {
                name: name.into(),
                hash: resource.hash,
                bytes: mem::take(&mut resource.bytes),
            });
        }
    }

    fn progress(&self, name: &str) -> Result<Progress<'_>, FetchError> {
        let (name, resource) = self
            .resources
            .get_key_value(name)
            .ok_or(FetchError::Unasked)?;
        Ok(Progress {
            name,
            have: resource.have(),
            of: resource.size,
            overall: self.overall,
        })
    }
}

impl Resource {
    fn new(size: u64, hash: ContentHash) -> Self {
        Self {
            size,
            hash,
            stage: Stage::Wanted,
            bytes: Vec::new(),
            hasher: Sha256::new(),
            end_due: false,
        }
    }

    fn have(&self) -> u64 {
        match self.stage {
            Stage::Whole => self.size,
            Stage::Wanted | Stage::Asked => self.bytes.len() as u64,
        }
    }

    /// A new connection owes nothing; what was handed out on the last begins anew.
    fn forget_connection(&mut self) {
        self.stage = Stage::Wanted;
        self.end_due = false;
    }

    fn is_followed_by(&self, piece: Piece<'_>) -> bool {
        let have = self.have();
        piece.of == self.size
            && piece.offset == have
            && piece.bytes.len() as u64 <= self.size - have
    }

    fn append(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            let rest = usize::try_from(self.size - self.have()).unwrap_or(usize::MAX);
            let more = self.bytes.len().max(RESERVE_FIRST).min(rest);
            self.bytes.reserve_exact(more.max(bytes.len()));
        }
        self.bytes.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announced_size_takes_no_memory() {
        let mut resource = Resource::new(CONTENT_MAX, ContentHash::of(b""));
        let block = [7; 1_000];
        for _ in 0..5_000 {
            resource.append(&block);
            let (held, reserved) = (resource.bytes.len(), resource.bytes.capacity());
            assert!(
                reserved <= (held * 2).max(RESERVE_FIRST),
                "{reserved} for {held}"
            );
        }
    }

    #[test]
    fn no_more_is_reserved_than_a_resource_has() {
        let size = 3 * RESERVE_FIRST as u64 / 2;
        let mut resource = Resource::new(size, ContentHash::of(b""));
        let block = [7; 1 << 16];
        while resource.have() < size {
            resource.append(&block);
        }
        assert_eq!(resource.bytes.capacity() as u64, size);
    }
}
