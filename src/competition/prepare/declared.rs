//! A preparation as the competition's TOML declares it: constants of the recipe, and either steps in order or the name
//! of a native preparation. Tables have names; `rows` is the one that is read where nothing else is said, `train` and
//! `test` are the parts of a split.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prepare::archive::Packing;
use crate::prepare::fixed::Fixed;
use crate::prepare::number_text::FloatStyle;

/// How a competition is prepared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Numbers of the recipe, by name.
    #[serde(default)]
    pub constants: BTreeMap<String, i64>,
    /// A preparation of its own; there are no steps then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// What is done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// What the fixed variant leaves out, where the competition is known to tell its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Fixed>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Unpacks archives of the download; what is in them is found like the rest of it.
    Unpack(Vec<String>),
    /// Reads a table.
    Read(Read),
    /// Parts a table into `train` and `test`.
    Split(Split),
    /// Makes a table of some rows of another.
    Select(Select),
    /// Sorts a table by the text of a column.
    Sort {
        /// The table.
        rows: String,
        /// The column.
        by: String,
    },
    /// Counts the rows of a table anew.
    Number(Number),
    /// Writes a table.
    Write(Write),
    /// Copies files and folders of the download to `public`, under the same names.
    Copy(Vec<String>),
    /// Copies one file or folder of the download to another place.
    CopyTo {
        /// Its path in the download.
        from: String,
        /// Its path in the results.
        to: String,
    },
    /// Copies a file or folder for each row of a table.
    CopyEach {
        /// The table.
        rows: String,
        /// Its path in the download, with cells of the row.
        from: String,
        /// Its path in the results, with cells of the row.
        to: String,
    },
    /// Packs a file for each row of a table.
    PackEach {
        /// The table.
        rows: String,
        /// Its path in the download, with cells of the row.
        from: String,
        /// Its name in the archive, with cells of the row.
        name: String,
        /// The archive.
        to: String,
        /// Compressed or not.
        #[serde(default)]
        packing: Packing,
    },
    /// Makes an empty folder.
    Folder(String),
}

/// See [`Step::Read`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Its path in the download.
    pub file: String,
    /// The table's name.
    #[serde(default = "rows")]
    pub rows: String,
    /// Columns that are text whatever they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Cells are parted by tabs, not by commas.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tabs: bool,
    /// Decimals are read as pandas does where nothing is asked for, not correctly rounded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick_decimals: bool,
}

/// See [`Step::Split`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The table.
    #[serde(default = "rows")]
    pub rows: String,
    /// The part that is test: a fraction, or the name of a constant that is a number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Amount>,
    /// The fraction that is train, where that of test is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<f64>,
    /// The distinct cells of this column are parted, and the rows with them, in the order of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Seed of the permutation.
    #[serde(default)]
    pub seed: u32,
}

/// A fraction or a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Amount {
    /// Of all rows.
    Fraction(f64),
    /// So many rows.
    Constant(String),
}

/// See [`Step::Select`]: the rows whose cell in `column` occurs in a column of another table, or is not a given text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// The table.
    #[serde(default = "rows")]
    pub rows: String,
    /// Name of the new one.
    #[serde(rename = "as")]
    pub name: String,
    /// The column.
    pub column: String,
    /// The table whose cells of that column are kept.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// A text whose rows are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unequal: Option<String>,
}

/// See [`Step::Number`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The table.
    pub rows: String,
    /// The column that is replaced.
    pub column: String,
    /// The first number; the name of a table stands for its number of rows.
    #[serde(default)]
    pub from: u32,
    /// The numbers begin behind those of this table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// What stands before the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// A new column with the old cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
}

/// See [`Step::Write`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The table.
    pub rows: String,
    /// The file.
    pub to: String,
    /// An archive that holds the file; the file itself is not left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<String>,
    /// These columns only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Vec<String>>,
    /// All columns but these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// Columns under other names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
    /// A column of labels that becomes a column of 0 and 1 for each predicted column of the submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_hot: Option<String>,
    /// Columns with the same cell in every row; the empty text is a missing one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Cell>,
    /// The cell of every predicted column of the submission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Cell>,
    /// Cells are parted by tabs, not by commas.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tabs: bool,
    /// How doubles are written.
    #[serde(default)]
    pub floats: FloatStyle,
}

/// A cell that is the same in every row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
}

fn rows() -> String {
    "rows".to_owned()
}
