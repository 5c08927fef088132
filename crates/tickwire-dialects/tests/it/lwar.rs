//! lwar, client and server, against its wire document and the datagrams of the original server.

mod client;
mod properties;
mod script;
mod server;
mod vectors;
mod words;
