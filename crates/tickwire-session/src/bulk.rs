//! Bulk content: named resources, known by their SHA-256.
//!
//! A server puts contents on a [`Shelf`], which writes a [`Manifest`] of them; a client that got the
//! manifest fetches what it does not hold. Pieces go out of a [`Sending`] one at a time, when the stream
//! has room, so that nothing else waits behind more than one of them; they come in to a [`Fetching`],
//! which hashes them on the way, goes on where it was when a connection breaks, and hands out only what
//! is as the manifest says. A protocol whose pieces come in any order puts them together in an
//! [`Assembly`].
//!
//! How requests and pieces are framed is the protocol's.
//!
//! ```
//! use tickwire_session::bulk::{Fetching, Manifest, Shelf};
//!
//! let mut shelf = Shelf::new("manifest");
//! shelf.insert("map", b"here be dragons"[..].into()).unwrap();
//!
//! let text = shelf.get("manifest").unwrap();
//! let manifest = Manifest::parse(text).unwrap();
//! let mut fetching = Fetching::new(&manifest, |_| false).unwrap();
//! while let Some(request) = fetching.poll_request() {
//!     let mut sending = shelf.send(&request.name, request.offset).unwrap();
//!     while let Some(piece) = sending.poll_piece(4) {
//!         fetching.handle_piece(&request.name, piece).unwrap();
//!     }
//! }
//! assert_eq!(fetching.poll_fetched().unwrap().bytes, b"here be dragons");
//! assert!(fetching.is_complete());
//! ```

mod assembly;
mod fetching;
mod manifest;
mod sending;
mod shelf;

pub use assembly::{Assembly, Misplaced};
pub use fetching::{FetchError, Fetched, Fetching, Overall, Progress, Request};
pub use manifest::{ContentHash, Listed, Manifest, ManifestError, ManifestFault};
pub use sending::{Piece, SendError, Sending};
pub use shelf::{Shelf, ShelfError};

/// Resources that a manifest may list.
///
/// More than the files of a large mod; with names of the usual length their manifest has half a
/// megabyte.
pub const RESOURCES_MAX: usize = 4_096;

/// Bytes of a resource's name.
///
/// What file systems take as the name of one file.
pub const RESOURCE_NAME_MAX: usize = 255;

/// Bytes of one resource, and of all that one fetching fetches, together.
///
/// They are held in memory until the application takes them; a machine that runs a game has that much.
pub const CONTENT_MAX: u64 = 1 << 30;

/// Parts of a resource that may have arrived apart from each other.
///
/// 64 MiB in pieces of 240 bytes, of which every second one is missing, are 139,811.
pub const EXTENTS_MAX: usize = 1 << 18;

#[cfg(test)]
mod tests;
