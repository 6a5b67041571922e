//! The system prompt: an agent's own or one as long as OpenCode's, then the texts from the environment and the project.

use super::{
    super::{agents::Agent, config},
    Job, text,
};
use serde_json::Value;

/// The length of the prompts of OpenCode's coding agents, in characters.
const CODING: usize = 8_500;
const OPENING: &str = "You are opencode, an interactive CLI tool that helps users with software engineering tasks.\n";
const ADVICE: &str = "Follow the conventions of the code that you change, and say what you did.\n";
const STRUCTURE: &str = "IMPORTANT: The user has requested structured output. You MUST use the StructuredOutput tool to \
                         provide your final response. Do NOT respond with plain text.";

pub(super) fn prompt(job: &Job, agent: &Agent, user: &Value, model: &Value) -> String {
    let mut prompt = agent.prompt.clone().unwrap_or_else(coding);
    let directory = job.instance.directory.display();
    let root = job.instance.worktree.display();
    let (provider, id) = (text(&model["providerID"]), text(&model["api"]["id"]));
    prompt += &format!(
        "\nYou are powered by the model named {id}. The exact model ID is {provider}/{id}\n<env>\n  Working directory: \
         {directory}\n  Workspace root folder: {root}\n  Platform: linux\n</env>"
    );
    for (path, text) in instructions(job) {
        prompt += &format!("\nInstructions from: {path}\n{text}");
    }
    if let Some(system) = user["info"]["system"].as_str() {
        prompt += &format!("\n{system}");
    }
    if user["info"]["format"]["type"] == "json_schema" {
        prompt += &format!("\n{STRUCTURE}");
    }
    prompt
}

fn coding() -> String {
    let times = CODING.saturating_sub(OPENING.len()).div_ceil(ADVICE.len());
    format!("{OPENING}{}", ADVICE.repeat(times))
}

/// The user's own and the nearest of the project.
fn instructions(job: &Job) -> Vec<(String, String)> {
    let own = Some(job.machine.config_directory());
    let project = config::project(&job.machine, &job.instance.directory)
        .into_iter()
        .find(|path| path.join("AGENTS.md").is_file());
    let files = [own, project].into_iter().flatten().map(|path| path.join("AGENTS.md"));
    files.filter_map(|file| Some((file.display().to_string(), std::fs::read_to_string(&file).ok()?))).collect()
}
