//! The endpoints of the first protocol version that a dispatcher needs: what a server is and knows. Those of sessions
//! are in `session_routes`.

use super::{
    behaviour::PermissionReply, catalogue::Catalogue, config::Broken, events, gate, place::Directory, run,
    session_routes, shapes, work, world::World,
};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) type Shared = State<Arc<World>>;
type Answer = Result<Json<Value>, Broken>;

pub(super) fn router(world: Arc<World>) -> Router {
    Router::new()
        .route("/global/health", get(health))
        .route("/global/event", get(async |State(world): Shared| events::stream(world, None)))
        .route("/event", get(event))
        .route("/global/dispose", post(dispose_all))
        .route("/instance/dispose", post(dispose))
        .route("/path", get(path))
        .route("/config/providers", get(config_providers))
        .route("/provider", get(providers))
        .route("/agent", get(agents))
        .route("/config", get(config))
        .route("/mcp", get(async || Json(json!({}))))
        .route("/command", get(commands))
        .route("/permission", get(permissions))
        .route("/permission/{id}/reply", post(reply))
        .route("/question", get(async || Json(json!([]))))
        .route("/question/{id}/reply", post(yes))
        .route("/question/{id}/reject", post(yes))
        .merge(session_routes::router())
        .fallback(gate::page)
        .layer(from_fn_with_state(world.clone(), gate::gate))
        .with_state(world)
}

async fn yes() -> Json<bool> {
    Json(true)
}

async fn health(State(world): Shared) -> Json<Value> {
    Json(json!({ "healthy": true, "version": world.behaviour.version }))
}

async fn event(State(world): Shared, directory: Directory) -> Result<Response, Broken> {
    directory.instance(&world)?;
    let place = world.machine.as_ref().map_or_else(|| directory.or_root().to_owned(), |machine| directory.of(machine));
    Ok(events::stream(world, Some(place)))
}

async fn dispose_all(State(world): Shared) -> Json<bool> {
    world.sessions().cancel_all(None);
    world.instances.dispose(None);
    Json(true)
}

async fn dispose(State(world): Shared, directory: Directory) -> Result<Json<bool>, Broken> {
    if directory.instance(&world)?.is_some()
        && let Some(machine) = &world.machine
    {
        let place = directory.of(machine);
        world.sessions().cancel_all(Some(&place));
        world.instances.dispose(Some(std::path::Path::new(&place)));
        world.publish(&place, "server.instance.disposed", json!({ "directory": place }));
    }
    Ok(Json(true))
}

async fn path(State(world): Shared, directory: Directory) -> Answer {
    let Some(instance) = directory.instance(&world)? else { return Ok(Json(json!({}))) };
    Ok(Json(json!({ "directory": instance.directory, "worktree": instance.worktree })))
}

async fn config_providers(State(world): Shared, directory: Directory) -> Answer {
    let Some(instance) = directory.instance(&world)? else {
        return Ok(Json(json!({ "providers": shapes::providers(&world.behaviour), "default": {} })));
    };
    let providers = &instance.catalogue.connected;
    Ok(Json(json!({ "providers": providers, "default": Catalogue::defaults(providers) })))
}

async fn providers(State(world): Shared, directory: Directory) -> Answer {
    let ids = |providers: &[Value]| providers.iter().map(|provider| provider["id"].clone()).collect::<Vec<_>>();
    let Some(instance) = directory.instance(&world)? else {
        let all = shapes::providers(&world.behaviour);
        return Ok(Json(json!({ "connected": ids(&all), "all": all, "default": Map::new() })));
    };
    let Catalogue { connected, all } = &instance.catalogue;
    Ok(Json(json!({ "all": all, "default": Catalogue::defaults(all), "connected": ids(connected) })))
}

async fn agents(State(world): Shared, directory: Directory) -> Answer {
    let Some(instance) = directory.instance(&world)? else { return Ok(Json(shapes::agents())) };
    Ok(Json(instance.agents.iter().map(super::agents::Agent::json).collect()))
}

async fn config(State(world): Shared, directory: Directory) -> Answer {
    Ok(Json(directory.instance(&world)?.map_or_else(|| json!({}), |instance| instance.config_json())))
}

async fn commands(State(world): Shared, directory: Directory) -> Answer {
    Ok(Json(directory.instance(&world)?.map_or_else(|| json!([]), |instance| json!(instance.commands()))))
}

async fn permissions(State(world): Shared, directory: Directory) -> Answer {
    directory.instance(&world)?;
    let sessions = world.sessions();
    let here = |request: &&Value| {
        let session = request["sessionID"].as_str().unwrap_or_default();
        world.machine.as_ref().is_none_or(|machine| sessions.directory(session) == directory.of(machine))
    };
    Ok(Json(sessions.permissions.values().filter(here).cloned().collect()))
}

async fn reply(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    if world.behaviour.permission_reply == PermissionReply::Fails {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(shapes::unknown_error())).into_response();
    }
    let told = &body["reply"];
    let replied = if world.machine.is_some() {
        let reply = match told.as_str() {
            Some("once") => work::Reply::Once,
            Some("always") => work::Reply::Always,
            _ => work::Reply::Reject(body["message"].as_str().map(str::to_owned)),
        };
        work::reply(&world, &id, &reply, told)
    } else {
        run::reply(&world, &id, told)
    };
    if replied {
        return Json(true).into_response();
    }
    (StatusCode::NOT_FOUND, Json(json!({ "_tag": "PermissionNotFoundError", "requestID": id }))).into_response()
}
