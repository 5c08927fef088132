//! Loading a module: the manifest, then whatever of it is not held, among it always the base.
//!
//! In: pieces of resources. Out: what to ask for and from which offset, how far it is, resources for the
//! application and the base for the client. What came before a connection broke is kept, by its hash.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_session::bulk::{
    ContentHash, FetchError, Fetched, Fetching, Listed, Manifest, Overall, Piece, Request,
};

use super::limits::{FETCHES_AHEAD, HELD_MAX};
use super::snapshot::Snapshot;
use crate::reone::ModuleNumber;
use crate::reone::limits::{BASE_MAX, MANIFEST_MAX};
use crate::reone::message::{Base, Refusal};
use crate::reone::resource::{BASE, MANIFEST};

/// What a client has loaded and still loads.
#[derive(Debug, Default)]
pub(super) struct Loader {
    module: Option<ModuleNumber>,
    stage: Stage,
    fetching: Option<Fetching>,
    base: Option<(ContentHash, Arc<Snapshot>)>,
    /// Contents that the application holds.
    held: BTreeSet<ContentHash>,
    /// Requests for the module before, which may still be answered.
    stale: usize,
}

#[derive(Debug, Default)]
enum Stage {
    /// Nothing is to be loaded, or everything is.
    #[default]
    Idle,
    /// The manifest is on its way.
    Manifest { is_asked: bool, bytes: Vec<u8> },
    /// What it lists is.
    Resources,
}

/// What a piece of a resource brought.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Loaded {
    /// More of this resource is here.
    Progress(LoadProgress),
    /// This resource is whole, and the application's.
    Resource(Fetched),
}

/// A request that the server refused.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum RefusedFetch {
    /// It was for a module that is over.
    Stale,
    /// The module is loaded without this resource.
    Resource(String),
    /// The manifest or the base: without it there is no module.
    Essential,
}

/// How far a resource, and all of them, are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LoadProgress {
    /// The resource that came nearer.
    pub name: String,
    /// Bytes of it that are here.
    pub have: u64,
    /// Bytes that it has.
    pub of: u64,
    /// All resources together.
    pub overall: Overall,
}

/// Why a module cannot be loaded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LoadFault {
    /// The manifest is none, or too long.
    Manifest,
    /// What it lists is more than a client holds.
    TooLarge,
    /// It lists no base, or the base is none.
    Base,
    /// A resource is not as listed.
    Mismatch,
    /// Pieces of a resource did not follow each other.
    Misplaced,
}

/// Why a piece was not taken.
#[derive(Debug)]
pub(super) enum PieceError {
    /// Nobody waits for it.
    Unasked,
    /// The module cannot be loaded. Names the resource, if it is one's fault.
    Fault(LoadFault, Option<String>),
}

impl Loader {
    pub(super) fn new(held: BTreeSet<ContentHash>) -> Self {
        Self {
            held,
            ..Self::default()
        }
    }

    /// Begins to load a module, on a connection that may still answer requests for another.
    pub(super) fn begin(&mut self, module: ModuleNumber) {
        self.module = Some(module);
        let asked = self.fetching.as_ref().map_or(0, |it| it.asked().count());
        self.stale += match self.stage {
            Stage::Idle => 0,
            Stage::Manifest { is_asked, .. } => usize::from(is_asked),
            Stage::Resources => asked,
        };
        self.stage = Stage::Manifest {
            is_asked: false,
            bytes: Vec::new(),
        };
    }

    /// The connection ended.
    pub(super) fn disconnect(&mut self) {
        self.stage = Stage::Idle;
        self.stale = 0;
        if let Some(fetching) = &mut self.fetching {
            fetching.disconnect();
        }
    }

    /// The module that is loaded, or being loaded.
    pub(super) const fn module(&self) -> Option<ModuleNumber> {
        self.module
    }

    /// What the module begins with, once it is loaded.
    pub(super) fn base(&self) -> Option<Arc<Snapshot>> {
        self.base.as_ref().map(|(_, base)| base.clone())
    }

    /// How far it is; `None` until the manifest is here.
    pub(super) fn overall(&self) -> Option<Overall> {
        match self.stage {
            Stage::Manifest { .. } => None,
            Stage::Idle | Stage::Resources => self.fetching.as_ref().map(Fetching::overall),
        }
    }

    /// The next resource to ask for.
    pub(super) fn poll_request(&mut self) -> Option<Request> {
        match &mut self.stage {
            Stage::Idle => None,
            Stage::Manifest { is_asked: true, .. } => None,
            Stage::Manifest { is_asked, .. } => {
                *is_asked = true;
                Some(Request {
                    name: MANIFEST.into(),
                    offset: 0,
                })
            }
            Stage::Resources => self.fetching.as_mut()?.poll_request(),
        }
    }

    /// The server refused something. Returns what, if it was a resource: requests are answered in order.
    pub(super) fn handle_refusal(&mut self, reason: Refusal) -> Option<RefusedFetch> {
        let is_about_a_resource = matches!(reason, Refusal::RESOURCE | Refusal::OFFSET);
        if self.stale > 0 && is_about_a_resource {
            self.stale -= 1;
            return Some(RefusedFetch::Stale);
        }
        match self.stage {
            Stage::Manifest { is_asked: true, .. } => Some(RefusedFetch::Essential),
            Stage::Resources => match self.fetching.as_mut()?.handle_refusal()? {
                name if name == BASE => Some(RefusedFetch::Essential),
                name => Some(RefusedFetch::Resource(name)),
            },
            Stage::Idle | Stage::Manifest { .. } => None,
        }
    }

    /// A piece came; `tell` hears what it brought.
    pub(super) fn handle_piece(
        &mut self,
        name: &str,
        piece: Piece<'_>,
        mut tell: impl FnMut(Loaded),
    ) -> Result<(), PieceError> {
        match &mut self.stage {
            Stage::Manifest {
                is_asked: true,
                bytes,
            } if name == MANIFEST => {
                if piece.of > MANIFEST_MAX as u64 {
                    return Err(fault(LoadFault::Manifest));
                }
                if piece.offset != bytes.len() as u64 {
                    return self.refuse_misplaced(name);
                }
                bytes.extend_from_slice(piece.bytes);
                if (bytes.len() as u64) < piece.of {
                    return Ok(());
                }
                let text = core::mem::take(bytes);
                self.begin_resources(&text)?;
            }
            Stage::Resources => self.take_piece(name, piece, &mut tell)?,
            // The empty piece behind the last byte, which was not waited for.
            _ if piece.is_end() => return Ok(()),
            _ => return Err(PieceError::Unasked),
        }
        self.take_fetched(&mut tell)
    }

    /// Whether nothing is left to load. Says so once.
    pub(super) fn take_complete(&mut self) -> bool {
        let is_loading = matches!(self.stage, Stage::Resources);
        let is_complete = is_loading && self.fetching.as_ref().is_some_and(Fetching::is_complete);
        if is_complete {
            self.stage = Stage::Idle;
        }
        is_complete
    }

    fn begin_resources(&mut self, manifest: &[u8]) -> Result<(), PieceError> {
        let manifest = Manifest::parse(manifest).map_err(|_| fault(LoadFault::Manifest))?;
        let base = manifest.listed().iter().find(|it| it.name == BASE);
        if base.is_none_or(|base| base.size > BASE_MAX as u64) {
            return Err(fault(LoadFault::Base));
        }
        let base = self.base.as_ref().map(|(hash, _)| *hash);
        let held = &self.held;
        // The base is the client's own: whether the application has its bytes is no help.
        let holds = |listed: &Listed| match listed.name.as_str() {
            BASE => base == Some(listed.hash),
            _ => held.contains(&listed.hash),
        };
        match &mut self.fetching {
            Some(fetching) => fetching.restart(&manifest, holds).map_err(fetch_fault)?,
            None => {
                let fetching = Fetching::new(&manifest, holds).map_err(fetch_fault)?;
                self.fetching = Some(fetching.ask_ahead(FETCHES_AHEAD));
            }
        }
        self.stage = Stage::Resources;
        Ok(())
    }

    fn take_piece(
        &mut self,
        name: &str,
        piece: Piece<'_>,
        tell: &mut impl FnMut(Loaded),
    ) -> Result<(), PieceError> {
        let Some(fetching) = &mut self.fetching else {
            return Err(PieceError::Unasked);
        };
        match fetching.handle_piece(name, piece) {
            Ok(_) if piece.is_end() => {}
            Ok(progress) => tell(Loaded::Progress(LoadProgress {
                name: progress.name.into(),
                have: progress.have,
                of: progress.of,
                overall: progress.overall,
            })),
            Err(FetchError::Unasked) if piece.is_end() => {}
            Err(FetchError::Misplaced { .. }) => return self.refuse_misplaced(name),
            Err(error) => return Err(fetch_fault(error)),
        }
        Ok(())
    }

    /// A piece that does not follow the last may belong to the module before.
    fn refuse_misplaced(&self, name: &str) -> Result<(), PieceError> {
        if self.stale > 0 {
            return Err(PieceError::Unasked);
        }
        Err(PieceError::Fault(LoadFault::Misplaced, Some(name.into())))
    }

    fn take_fetched(&mut self, tell: &mut impl FnMut(Loaded)) -> Result<(), PieceError> {
        let Some(fetching) = &mut self.fetching else {
            return Ok(());
        };
        while let Some(fetched) = fetching.poll_fetched() {
            if fetched.name == BASE {
                let base = Base::decode(&fetched.bytes).ok();
                let base = base.and_then(|base| Snapshot::from_base(&base));
                let base = base.ok_or_else(|| fault(LoadFault::Base))?;
                self.base = Some((fetched.hash, Arc::new(base)));
            } else {
                if self.held.len() < HELD_MAX {
                    self.held.insert(fetched.hash);
                }
                tell(Loaded::Resource(fetched));
            }
        }
        Ok(())
    }
}

const fn fault(fault: LoadFault) -> PieceError {
    PieceError::Fault(fault, None)
}

fn fetch_fault(error: FetchError) -> PieceError {
    match error {
        FetchError::TooLarge => fault(LoadFault::TooLarge),
        FetchError::Unasked => PieceError::Unasked,
        FetchError::Misplaced { name } => PieceError::Fault(LoadFault::Misplaced, Some(name)),
        FetchError::Mismatch { name } => PieceError::Fault(LoadFault::Mismatch, Some(name)),
    }
}
