//! The private files of a managed server: its password, readable by this user alone, and its log.

use crate::Context;
use secrecy::{ExposeSecret, SecretString};
use shuntyard_agents::opencode::Endpoint;
use shuntyard_core::ServerId;
use shuntyard_host::paths::{private_dir, write_private};
use shuntyard_store::ServerRecord;
use std::{io, path::PathBuf};
use uuid::Uuid;

pub(super) fn password_file(servers: &std::path::Path, server: ServerId) -> PathBuf {
    servers.join(format!("{server}.password"))
}

pub(super) fn log_file(servers: &std::path::Path, server: ServerId) -> PathBuf {
    servers.join(format!("{server}.log"))
}

/// Makes and stores a new password.
pub(super) fn create_password(servers: &std::path::Path, server: ServerId) -> io::Result<SecretString> {
    let password = SecretString::from(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
    private_dir(servers)?;
    write_private(&password_file(servers, server), password.expose_secret().as_bytes())?;
    Ok(password)
}

/// How to reach a managed server.
pub(crate) fn endpoint_of(context: &Context, server: &ServerRecord) -> io::Result<Endpoint> {
    let password = std::fs::read_to_string(password_file(&context.servers_dir(), server.id))?;
    Ok(Endpoint { url: server.url.clone(), password: Some(SecretString::from(password)) })
}

/// Removes what a server that is gone has left. Its log goes too unless it failed.
pub(super) fn remove_files(servers: &std::path::Path, server: ServerId, keep_log: bool) {
    drop(std::fs::remove_dir_all(servers.join(format!("{server}.directories"))));
    for file in
        [Some(password_file(servers, server)), (!keep_log).then(|| log_file(servers, server))].into_iter().flatten()
    {
        if let Err(error) = std::fs::remove_file(&file)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(file = %file.display(), %error, "a server's file could not be removed");
        }
    }
}
