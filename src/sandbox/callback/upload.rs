//! A file from inside becomes a copy of the harness's own, within a size.

use std::io;

use tempfile::TempPath;
use tokio::{fs::File, io::AsyncWriteExt};

use super::{SubmissionCheck, connection::Connection, form::Form, http::Answer};

/// What a form may hold besides the file.
pub(super) const AROUND: u64 = 64 << 10;
/// All that is said of a failure of ours.
pub(super) const UNAVAILABLE: &str = "the file could not be checked: the fault is not with the file";

/// How the file lies in the body.
#[derive(Debug)]
pub(super) enum Shape {
    /// As a part of a form.
    Part(Form),
    /// It is the body.
    Body,
}

impl Shape {
    /// By the content type; `None` when it is neither.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        if ["text/csv", "application/octet-stream"].iter().any(|raw| kind.eq_ignore_ascii_case(raw)) {
            return Some(Self::Body);
        }
        Form::of(content_type).map(Self::Part)
    }
}

/// The answer to a file that no submission can be.
pub(super) fn too_large(max_bytes: u64) -> Answer {
    Answer::error(413, &format!("the file is larger than {max_bytes} bytes, the largest that is checked"))
}

/// Takes the body and returns the copy, removed when it is dropped, or the answer that refuses it. An error means that
/// the client has gone away or is too slow.
pub(super) async fn receive(
    connection: &mut Connection,
    mut shape: Shape,
    check: &SubmissionCheck,
) -> io::Result<Result<TempPath, Answer>> {
    let unavailable = |error: io::Error| {
        tracing::warn!(%error, folder = %check.scratch.display(), "a submission could not be copied for its check");
        Ok(Err(Answer::error(503, UNAVAILABLE)))
    };
    // The checker knows its files by this ending.
    let made = tempfile::Builder::new().prefix("check-").suffix(".csv").tempfile_in(&check.scratch);
    let (file, path) = match made {
        Ok(made) => made.into_parts(),
        Err(error) => return unavailable(error),
    };
    let mut file = File::from_std(file);
    let mut bytes = 0_u64;
    let mut part = Vec::new();
    loop {
        let piece = connection.piece().await?;
        if piece.is_empty() {
            break;
        }
        let content = match &mut shape {
            Shape::Body => &piece,
            Shape::Part(form) => {
                part.clear();
                if let Err(no_file) = form.push(&piece, &mut part) {
                    return Ok(Err(Answer::error(400, &no_file.to_string())));
                }
                &part
            }
        };
        bytes += content.len() as u64;
        if bytes > check.max_bytes {
            return Ok(Err(too_large(check.max_bytes)));
        }
        if let Err(error) = file.write_all(content).await {
            return unavailable(error);
        }
    }
    if let Shape::Part(form) = shape
        && let Err(no_file) = form.finish()
    {
        return Ok(Err(Answer::error(400, &no_file.to_string())));
    }
    match file.flush().await {
        Ok(()) => Ok(Ok(path)),
        Err(error) => unavailable(error),
    }
}
