//! What holds for all messages and all bytes.

mod hostile;
mod mask;
mod message;
