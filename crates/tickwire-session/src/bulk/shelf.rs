//! The contents that clients may fetch, by name.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use core::cell::OnceCell;

use tickwire_wire::display_enum;

use super::manifest::is_name;
use super::{
    CONTENT_MAX, ContentHash, Listed, Manifest, RESOURCE_NAME_MAX, RESOURCES_MAX, SendError,
    Sending,
};

/// Named contents, and the manifest of them.
///
/// Contents are shared, not copied: what is being sent stays as it was when it was asked for, even if
/// it is replaced meanwhile.
#[derive(Clone, Debug)]
pub struct Shelf {
    manifest_name: String,
    contents: BTreeMap<String, Content>,
    /// Written when somebody asks, so that filling a shelf does not write it once for each resource.
    manifest: OnceCell<Arc<[u8]>>,
}

#[derive(Clone, Debug)]
struct Content {
    bytes: Arc<[u8]>,
    hash: ContentHash,
}

display_enum! {
    /// Why something cannot be put on a shelf.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum ShelfError: Error {
        /// Clients would not take the name, or it is the manifest's own.
        Name => "a resource's name is a relative path of 1 to {RESOURCE_NAME_MAX} bytes, and not the manifest's",
        /// It is larger than [`CONTENT_MAX`].
        Size => "a resource has at most {CONTENT_MAX} bytes",
        /// There are [`RESOURCES_MAX`] already.
        TooMany => "there are {RESOURCES_MAX} resources already",
    }
}

impl Shelf {
    /// An empty shelf, whose manifest is fetched by the given name.
    pub fn new(manifest_name: &str) -> Self {
        Self {
            manifest_name: manifest_name.into(),
            contents: BTreeMap::new(),
            manifest: OnceCell::new(),
        }
    }

    /// Puts contents under a name, in place of what was there, and says what they hash to.
    pub fn insert(&mut self, name: &str, bytes: Arc<[u8]>) -> Result<ContentHash, ShelfError> {
        if !is_name(name) || name == self.manifest_name {
            return Err(ShelfError::Name);
        }
        if bytes.len() as u64 > CONTENT_MAX {
            return Err(ShelfError::Size);
        }
        if self.contents.len() >= RESOURCES_MAX && !self.contents.contains_key(name) {
            return Err(ShelfError::TooMany);
        }
        let hash = ContentHash::of(&bytes);
        self.contents.insert(name.into(), Content { bytes, hash });
        self.manifest.take();
        Ok(hash)
    }

    /// Takes something off the shelf.
    pub fn remove(&mut self, name: &str) -> Option<Arc<[u8]>> {
        let content = self.contents.remove(name)?;
        self.manifest.take();
        Some(content.bytes)
    }

    /// The contents of a name; of the manifest's own, its text.
    pub fn get(&self, name: &str) -> Option<&Arc<[u8]>> {
        if name == self.manifest_name {
            let text = || self.manifest().to_string().into_bytes().into();
            return Some(self.manifest.get_or_init(text));
        }
        self.contents.get(name).map(|content| &content.bytes)
    }

    /// Begins to send the contents of a name, from an offset on.
    pub fn send(&self, name: &str, offset: u64) -> Result<Sending, SendError> {
        let bytes = self.get(name).ok_or(SendError::Unknown)?;
        Sending::new(name, bytes.clone(), offset)
    }

    /// What is on the shelf, by name.
    pub fn manifest(&self) -> Manifest {
        let mut manifest = Manifest::default();
        for (name, Content { bytes, hash }) in &self.contents {
            manifest.push(Listed {
                name: name.clone(),
                size: bytes.len() as u64,
                hash: *hash,
            });
        }
        manifest
    }
}
