//! The resources that every module has; all others are the game's.
//!
//! How a manifest is read and written, and what a name may be, is the business of
//! [`tickwire_session::bulk`].

/// The name that the manifest itself is fetched by; it lists everything but itself.
pub const MANIFEST: &str = "manifest";

/// The name of the base.
pub const BASE: &str = "base";
