//! Whether Python files can be read by an interpreter, without running any of them: nothing is imported, and what is
//! compiled is thrown away.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;

use super::{Interpreter, interpreter::run_json};
use crate::{SandboxError, scratch};

/// Compiles the files `0`, `1`, ... of the folder, and prints what is wrong with which.
const COMPILE: &str = "
import json, os, warnings
warnings.simplefilter('ignore')
found = {}
for name in os.listdir(folder):
    with open(os.path.join(folder, name), 'rb') as file:
        text = file.read()
    try:
        compile(text, name, 'exec', dont_inherit=True)
    except SyntaxError as error:
        found[name] = {'line': error.lineno, 'message': str(error.msg)}
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        found[name] = {'line': None, 'message': str(error) or type(error).__name__}
print(json.dumps(found))
";

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SyntaxFault {
    /// The line, from 1, where it can be told.
    pub line: Option<u64>,
    /// Python's words.
    pub message: String,
}

impl Interpreter {
    /// Which of `texts` are no Python that this interpreter reads, by their names.
    ///
    /// # Errors
    /// When the interpreter cannot be asked.
    pub fn syntax_faults(
        &self,
        texts: &BTreeMap<String, Vec<u8>>,
    ) -> Result<BTreeMap<String, SyntaxFault>, SandboxError> {
        let folder = scratch::folder()?;
        let lay = |path: &Path, text: &[u8]| {
            std::fs::write(path, text).map_err(|source| SandboxError::Io {
                action: "laying a program's files in",
                path: path.to_owned(),
                source,
            })
        };
        for (number, text) in texts.values().enumerate() {
            lay(&folder.path().join(number.to_string()), text)?;
        }
        // A text of JSON is one of Python.
        let place = serde_json::Value::from(folder.path().to_string_lossy().into_owned());
        let mut found: BTreeMap<String, SyntaxFault> =
            run_json(&self.path, &format!("folder = {place}\n{COMPILE}"))?;
        let named =
            |(number, name): (usize, &String)| Some((name.clone(), found.remove(&number.to_string())?));
        Ok(texts.keys().enumerate().filter_map(named).collect())
    }
}
