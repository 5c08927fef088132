//! The dialects from outside: golden vectors, properties, and scripted conversations.

mod cppevy;
mod lwar;
mod opendrakan;
mod pixmess;
mod reone;
mod sabotage;
mod sim;
mod vectors;
