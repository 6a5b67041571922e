//! Who this store is to others: one word, the same for as long as the store is.

use super::ClaimFault;
use crate::Context;
use shuntyard_core::todo::Field;
use shuntyard_host::machine;

/// The variable for one shell, the setting for one user; without both the login and the machine.
const VARIABLE: &str = "SHUNTYARD_IDENTITY";

pub fn identity(context: &Context) -> Result<String, ClaimFault> {
    let set = context.variable(VARIABLE).or(Some(context.config.supervise.identity.as_str()));
    let who = match set.map(str::trim).filter(|who| !who.is_empty()) {
        Some(who) => who.to_owned(),
        None => own(context),
    };
    if Field::Assignee.accepts(&who) { Ok(who) } else { Err(ClaimFault::BadIdentity(who)) }
}

fn own(context: &Context) -> String {
    let login = context.variable("USER").or_else(|| context.variable("LOGNAME")).unwrap_or("shuntyard");
    let plain = |c: char| if c.is_whitespace() || c.is_control() || c == '`' { '-' } else { c };
    format!("{login}@{}", machine::name()).chars().map(plain).collect()
}
