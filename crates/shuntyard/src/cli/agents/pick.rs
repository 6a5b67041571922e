//! Asking for the model of a group on a terminal: by number from a list with reasons, or by name; then for a variant,
//! if the model has any; then for a yes.
//!
//! Invariant: an empty answer and the end of the input choose nothing.

use crate::{cli::selection, ui};
use shuntyard_core::{ModelRef, settings::AgentGroup};
use shuntyard_engine::{
    Context,
    roles::agents_config::{Offer, offered},
};
use std::io::BufRead as _;
use std::path::Path;

/// What an answer to the question for a model means.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'a> {
    Nothing,
    Number(usize),
    Name(&'a str),
}

fn read(line: &str) -> Answer<'_> {
    match line.trim() {
        "" => Answer::Nothing,
        text => text.parse().map_or(Answer::Name(text), Answer::Number),
    }
}

/// The model that the user picks for the group, with its variant.
pub async fn pick(context: &Context, directory: &Path, group: AgentGroup, offers: &[Offer]) -> Option<ModelRef> {
    let name = group.as_str().to_uppercase();
    loop {
        let line = ask(&format!("the model of {name}: a number, a name, or nothing to leave the group as it is"))?;
        let picked = match read(&line) {
            Answer::Nothing => return None,
            Answer::Number(number) => match number.checked_sub(1).and_then(|at| offers.get(at)) {
                Some(offer) => Ok(offer.clone()),
                None => Err(format!("there are the numbers 1 to {}", offers.len())),
            },
            Answer::Name(text) => named(context, directory, text).await,
        };
        match picked {
            // A name may have its variant with it.
            Ok(offer) if offer.model.variant.is_some() || offer.variants.is_empty() => return Some(offer.model),
            Ok(offer) => return variant(offer),
            Err(problem) => ui::warn(&problem),
        }
    }
}

async fn named(context: &Context, directory: &Path, text: &str) -> Result<Offer, String> {
    let selector = selection::model_or_tier(&context.config, text).map_err(|failure| failure.message)?;
    offered(context, directory, selector).await.map_err(|refusal| refusal.to_string())
}

fn variant(offer: Offer) -> Option<ModelRef> {
    loop {
        let line = ask(&format!("its variant: {}, or nothing for none", offer.variants.join(", ")))?;
        let wanted = line.trim();
        if wanted.is_empty() {
            return Some(offer.model);
        }
        if offer.variants.iter().any(|variant| variant == wanted) {
            return Some(ModelRef { variant: Some(wanted.to_owned()), ..offer.model });
        }
        ui::warn(&format!("{} has no variant `{wanted}`", offer.model));
    }
}

pub fn says_yes(group: AgentGroup, model: &ModelRef) -> bool {
    let answer = ask(&format!("give the agents of {} the model {model}? [y/N]", group.as_str().to_uppercase()));
    answer.is_some_and(|line| matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Nothing at the end of the input.
fn ask(question: &str) -> Option<String> {
    ui::note(question);
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::{Answer, read};

    #[test]
    fn an_answer_is_a_number_a_name_or_nothing() {
        for (line, answer) in [
            ("\n", Answer::Nothing),
            ("  2 \n", Answer::Number(2)),
            ("0\n", Answer::Number(0)),
            ("o3\n", Answer::Name("o3")),
            (" p/m@low\n", Answer::Name("p/m@low")),
            ("-1\n", Answer::Name("-1")),
        ] {
            assert_eq!(read(line), answer, "{line:?}");
        }
    }
}
