//! What a member is asked in a round: the question, and the earlier answers, without names.

use super::{Answer, Round, Settings, Showing, answer, visible};
use crate::{
    compare::{
        Label, Mask, Part, fence,
        trim::{fair_shares, trimmed},
    },
    values::clean,
};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy)]
pub struct CouncilTask<'a> {
    pub question: &'a str,
    pub mask: &'a Mask,
    pub settings: &'a Settings,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RoundPrompt {
    pub text: String,
    pub schema: Value,
    /// Whose earlier words are not shown whole.
    pub trimmed: Vec<Label>,
}

/// The prompt of the round after `earlier` for one member. The seed has to be another one for each call.
#[must_use]
pub fn round_prompt(task: &CouncilTask<'_>, own: Label, earlier: &[Round], seed: u64) -> RoundPrompt {
    let visible = visible(earlier, own);
    let (said, trimmed) = earlier_parts(task, earlier, Some(own));
    let mut parts = vec![Part::new("question", task.question)];
    parts.extend(said);
    let fenced = fence(seed, &parts);
    let number = earlier.len() + 1;
    let rounds = task.settings.rounds;
    let labels = visible.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let turn = if visible.is_empty() {
        "Nobody else has been heard yet, so `agree_with` is empty. Answer for yourself.".to_owned()
    } else {
        format!(
            "You have heard {labels}. Weigh what they say by its reasons, not by their number. Keep your position \
             where you still think that it is right, and say so; give it up where you were shown to be wrong. In \
             `agree_with` name those whose position, as quoted, you share now; leave it empty when there are none."
        )
    };
    let text = format!(
        "You are member {own} of a council that answers one question in at most {rounds} rounds; this is round \
         {number}. Who the members are is not told.\n\n\
         {rule}\n\n\
         {blocks}\n\n\
         {turn}\n\n\
         Answer with one JSON object: `position` is your position in one sentence; `answer` your whole answer with \
         its reasons; `agree_with` a list of labels; `changed` is true when your position is another one than in your \
         own earlier answer; `confidence` is a number from 0 to 1.",
        rule = fenced.rule(),
        blocks = fenced.blocks.join("\n\n"),
    );
    RoundPrompt { text, schema: answer::schema(&visible), trimmed }
}

/// The earlier answers as quotes, within the budget of characters, and the labels of those that were cut.
pub(super) fn earlier_parts(task: &CouncilTask<'_>, earlier: &[Round], own: Option<Label>) -> (Vec<Part>, Vec<Label>) {
    let said: Vec<(u32, Label, &Answer)> = match task.settings.showing {
        Showing::All => {
            let of = |round: &'_ Round| round.number;
            earlier
                .iter()
                .flat_map(|round| round.given().map(move |(label, answer)| (of(round), label, answer)))
                .collect()
        }
        Showing::Latest => latest(earlier),
    };
    let text = |answer: &Answer| {
        let whole = format!("Position: {}\n\n{}", answer.position, answer.answer);
        task.mask.apply(&clean(&whole)).text
    };
    let texts: Vec<String> = said.iter().map(|(_, _, answer)| text(answer)).collect();
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let shares = fair_shares(&lengths, task.settings.characters);
    let mut cut = Vec::new();
    let mut parts = Vec::new();
    for ((number, label, _), (text, share)) in said.iter().zip(texts.iter().zip(shares)) {
        let (text, note) = trimmed(text, share);
        if note.is_some() && !cut.contains(label) {
            cut.push(*label);
        }
        let whose = if own == Some(*label) { "your own answer as member" } else { "answer of member" };
        parts.push(Part { name: format!("{whose} {label} in round {number}"), note, text });
    }
    (parts, cut)
}

fn latest(earlier: &[Round]) -> Vec<(u32, Label, &Answer)> {
    let mut newest = BTreeMap::new();
    for round in earlier {
        newest.extend(round.given().map(|(label, answer)| (label, (round.number, answer))));
    }
    newest.into_iter().map(|(label, (number, answer))| (number, label, answer)).collect()
}
