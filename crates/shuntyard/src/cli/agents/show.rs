//! The output of `shuntyard agents` for people.

use crate::ui;
use shuntyard_core::{ModelRef, routing::Catalogue};
use shuntyard_engine::roles::agents_config::{AgentHere, AgentProof, Edit, Recommendation, Standing};

pub fn agents(agents: &[AgentHere]) -> String {
    let cells: Vec<Vec<String>> = agents
        .iter()
        .map(|agent| {
            let model = agent.details.model.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string);
            let group = agent.group.map_or("", |group| group.as_str());
            vec![agent.details.name.clone(), agent.details.mode.as_str().into(), model, group.into()]
        })
        .collect();
    ui::table(&["AGENT", "MODE", "MODEL", "GROUP"], &cells)
}

/// The models that there are to choose from.
pub fn choice(catalogue: &Catalogue, problems: &[String]) {
    for problem in problems {
        ui::warn(problem);
    }
    let usable = catalogue.models().filter(|(_, provider, _)| provider.is_usable());
    let cells: Vec<Vec<String>> =
        usable.map(|(id, _, model)| vec![format!("{id}/{}", model.id), model.variants.join(" ")]).collect();
    ui::result(&ui::table(&["MODEL", "VARIANTS"], &cells));
}

pub fn group(recommendation: &Recommendation, present: &[String], missing: &[String], named: Option<&ModelRef>) {
    let name = recommendation.group.as_str().to_uppercase();
    ui::frame(&format!(
        "\n{name}: {}",
        if present.is_empty() { "no agent is here".into() } else { present.join(", ") }
    ));
    if !missing.is_empty() {
        ui::result(&format!("not here, so left out: {}", missing.join(", ")));
    }
    match &recommendation.model {
        Some(model) => ui::result(&format!("recommended: {model} ({})", recommendation.reason)),
        None => ui::result(&format!("nothing is recommended: {}", recommendation.reason)),
    }
    if !recommendation.offers.is_empty() {
        let rows: Vec<Vec<String>> = (1..)
            .zip(&recommendation.offers)
            .map(|(number, offer)| {
                vec![number.to_string(), offer.model.to_string(), offer.variants.join(" "), offer.reason.clone()]
            })
            .collect();
        ui::result(&ui::table(&["", "MODEL", "VARIANTS", "WHY"], &rows));
    }
    if let Some(model) = named {
        ui::result(&format!("named: {model}"));
    }
    for warning in &recommendation.warnings {
        ui::warn(warning);
    }
}

/// What a yes would change, before it is asked for.
pub fn preview(edit: &Edit) {
    let path = edit.file.path.display();
    if edit.changes() {
        ui::result(&format!("\n{}", edit.diff.trim_end()));
        ui::note(&format!("in {path}"));
    } else {
        ui::note(&format!("{path} says so already"));
    }
}

pub fn edit(edit: &Edit, dry_run: bool, nothing_chosen: bool) {
    let path = edit.file.path.display();
    if nothing_chosen {
        ui::note("nothing was chosen, so nothing is written");
    } else if edit.changes() {
        ui::result(&format!("\n{}", edit.diff.trim_end()));
        let verb = if dry_run { "would be" } else { "is" };
        ui::note(&format!("{path} {verb} written"));
    } else {
        ui::note(&format!("{path} says so already; nothing is changed"));
    }
}

pub fn proof(proof: &AgentProof) {
    let how = match proof.standing {
        Standing::Proven => "proven: it answered with",
        Standing::Configured => "configured: OpenCode gives it",
        Standing::Overridden => "DOES NOT HOLD, other settings come first; wanted",
        Standing::NotHonoured => "DOES NOT HOLD, another model answered; wanted",
        Standing::Unproven => "not proven, the probe failed; wanted",
    };
    let detail = proof.detail.as_ref().map_or_else(String::new, |detail| format!(": {detail}"));
    ui::result(&format!("{}: {how} {}{detail}", proof.agent, proof.wanted));
}
