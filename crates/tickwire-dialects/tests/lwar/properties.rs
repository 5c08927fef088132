//! What holds for all messages and all bytes.

mod hostile;
mod message;
mod wire;
