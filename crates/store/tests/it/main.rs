//! The store from outside: the contract of every database, what is particular to SQLite, and the ledger's properties.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod contract;
mod ledger_book;
mod ledger_properties;
mod sqlite_contract;
mod sqlite_format;
