//! The client, phase by phase: what it loads, what it puts together, what it shows and says.

mod assembling;
mod calling;
mod commands;
mod connecting;
mod hostile;
mod initialising;
mod loading;
mod predicting;
mod returning;
mod scopes;
mod script;
mod showing;
mod staying;
mod telling;
mod transitions;
