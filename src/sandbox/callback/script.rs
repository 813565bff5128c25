//! `validate_submission.sh`, as MLE-bench's instructions name it: a file's content is sent to the port inside.
//!
//! It needs a shell and the Python that runs the scripts, which is always there. The harness is sent bytes, never a
//! path. As with the original, a verdict is printed and the exit code is 0 whatever it says; 1 means that there is none.

use std::path::Path;

/// The folder of the script inside; it is on `PATH`, at its end.
pub(crate) const FOLDER: &str = "/home";
/// Where the script is.
pub(crate) const PATH: &str = "/home/validate_submission.sh";

const SCRIPT: &str = r#"#!/bin/sh
# Checks the format of a submission file and prints the verdict; never a score.
if [ -z "$1" ]; then
    echo "Usage: $0 <submission_file>"
    exit 1
fi
if [ ! -f "$1" ]; then
    echo "File $1 does not exist."
    exit 1
fi
exec PYTHON -I -S -c '
import http.client, json, os, sys
try:
    connection = http.client.HTTPConnection("127.0.0.1", 5000, timeout=300)
    with open(sys.argv[1], "rb") as file:
        connection.putrequest("POST", "/validate")
        connection.putheader("Content-Type", "text/csv")
        connection.putheader("Content-Length", str(os.fstat(file.fileno()).st_size))
        connection.endheaders()
        try:
            while chunk := file.read(1 << 18):
                connection.send(chunk)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before its end; the answer says why
    answer = json.loads(connection.getresponse().read())
except (OSError, ValueError, http.client.HTTPException) as error:
    sys.exit(f"The file could not be checked: {error}")
if "result" not in answer:
    sys.exit("The file was not checked: " + answer["error"])
print(answer["result"])
' "$1"
"#;

/// The script for an interpreter.
pub(crate) fn text(python: &Path) -> String {
    let quoted = format!("'{}'", python.to_string_lossy().replace('\'', r"'\''"));
    SCRIPT.replace("PYTHON", &quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_is_one_word() {
        let text = text(Path::new("/opt/it's mine/python3"));
        assert!(text.contains(r"exec '/opt/it'\''s mine/python3' -I -S -c '"), "{text}");
        assert_eq!(text.matches('\'').count(), SCRIPT.matches('\'').count() + 5);
    }
}
