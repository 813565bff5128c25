//! From a table and a question to the two folders: which columns are predicted, how rows are parted, what the sample
//! submission is; and the two shapes without answers, where the user's own rows are predicted or there is only a goal.

use std::path::Path;

use crate::own::dialect::Dialect;
use crate::own::error::OwnError;
use crate::own::found::{self, Found};
use crate::own::key::{Key, header};
use crate::own::lay::{self, FORMAT, Out, SAMPLE, Sizes, TEST};
use crate::own::profile::{ColumnProfile, Kind, Profile};
use crate::own::rows;
use crate::own::split::{Parted, Split, SplitRule, has_labels};
use crate::own::target::Target;
use crate::own::{Request, dates};

/// Fewer labelled rows are no data to learn from.
const LEAST_ROWS: u64 = 10;

/// What was laid down, for the entry and the description.
#[derive(Clone, Debug)]
pub(super) struct Laid {
    pub(super) key: Key,
    /// What is predicted; none where there is only a goal.
    pub(super) target: Option<Target>,
    pub(super) rule: SplitRule,
    pub(super) sizes: Sizes,
    /// The columns of the table, with the target's.
    pub(super) columns: Vec<ColumnProfile>,
}

impl Laid {
    /// Whether there are answers.
    pub(super) fn has_answers(&self) -> bool {
        self.target.is_some() && self.rule != SplitRule::None
    }
}

/// Makes both folders below `place` and fills them.
pub(super) fn make(
    request: &Request,
    found: &Found,
    place: &Path,
    notes: &mut Vec<String>,
) -> Result<Laid, OwnError> {
    let dialect = found.table.as_deref().map(Dialect::sniff).transpose()?;
    let sample = found.sample.as_deref().and_then(header);
    let (Some(path), Some(dialect)) = (&found.table, dialect) else {
        return goal(request, found, place, Vec::new());
    };
    notes.extend(dialect.notes());
    let names = targets(request, sample.as_deref(), &dialect);
    let profile = Profile::read(path, &dialect)?;
    if names.is_empty() {
        return goal(request, found, place, profile.columns);
    }
    let target = Target::of(path, &profile, &names, request.metric)?;
    if let Some([no, yes]) = target.renamed() {
        notes.push(format!("in `{}` the value `{yes}` became 1 and `{no}` became 0", names.join(", ")));
    }
    let labelled = labelled(path, &dialect, &profile, &target, notes)?;
    let by_class = if target.has_classes() { SplitRule::Stratified } else { SplitRule::Random };
    let rule = request.split.clone().unwrap_or(by_class);
    let parted = Parted {
        path,
        dialect: &dialect,
        profile: &profile,
        target: &target,
        labelled,
        seed: request.seed,
        share: request.test_share,
    };
    let split = Split::plan(&rule, parted)?;
    let sample_key = sample.as_ref().and_then(|names| names.first().map(String::as_str));
    let key = Key::of(request.id_column.as_deref(), sample_key, parted, notes)?;
    let mut sizes = lay::lay(parted, &key, split, place)?;
    if rule == SplitRule::None {
        sizes.test = given_test(found, parted, &key, sizes, place)?;
    } else if sizes.train == 0 || sizes.test == 0 {
        return Err(OwnError::asked(
            format!("the split leaves {} rows to learn from and {} to predict", sizes.train, sizes.test),
            "choose another split or test share",
        ));
    } else if let Some(test) = found.test.as_deref().map(found::name) {
        notes.push(format!(
            "{test} has no answers and is left aside; podium predict RUN {test} predicts it in the end"
        ));
    }
    notes.extend(profile.columns.iter().filter_map(read_as));
    Ok(Laid { key, target: Some(target), rule, sizes, columns: profile.columns })
}

/// The columns to predict: as asked, or what the sample submission has beside its key and the table has too. A sample of
/// a column for each class tells of a target that the user must name.
fn targets(request: &Request, sample: Option<&[String]>, dialect: &Dialect) -> Vec<String> {
    if !request.targets.is_empty() {
        return request.targets.clone();
    }
    let predicted = sample.unwrap_or_default().iter().skip(1);
    predicted.filter(|name| dialect.names.contains(name)).cloned().collect()
}

/// How many rows have their labels; the others are left out.
fn labelled(
    path: &Path,
    dialect: &Dialect,
    profile: &Profile,
    target: &Target,
    notes: &mut Vec<String>,
) -> Result<u64, OwnError> {
    let mut labelled = 0;
    match target.places.as_slice() {
        [place] => labelled = profile.columns.get(*place).map_or(0, |column| column.filled),
        _ => rows::each(path, dialect, |number, row| {
            labelled += u64::from(number > 0 && has_labels(target, row));
            Ok(())
        })?,
    }
    let names = target.names.join("`, `");
    if labelled < profile.rows {
        let without = profile.rows - labelled;
        notes.push(format!("{without} of {} rows have no value in `{names}` and are left out", profile.rows));
    }
    if labelled < LEAST_ROWS {
        let problem = format!("{labelled} rows have a value in `{names}`, at least {LEAST_ROWS} are needed");
        return Err(OwnError::unfit(path, problem, "give more rows"));
    }
    Ok(labelled)
}

/// How dates were read that can be read in two ways.
fn read_as(column: &ColumnProfile) -> Option<String> {
    let order = if column.order == dates::Order::DayFirst { "day/month" } else { "month/day" };
    let told = column.ambiguous && column.kind() == Kind::Date;
    told.then(|| format!("dates of `{}` were read as {order}/year", column.name))
}

/// Data without a target: everything is shown as it is, and any table is a submission.
fn goal(
    request: &Request,
    found: &Found,
    place: &Path,
    columns: Vec<ColumnProfile>,
) -> Result<Laid, OwnError> {
    if request.goal.is_none() {
        return Err(OwnError::asked(
            "no column to predict is named",
            "name one with --target; for data without labels say with --goal what you want",
        ));
    }
    let [public, private] = lay::folders(place)?;
    for table in [&found.table, &found.test, &found.sample].into_iter().flatten() {
        let to = public.join(found::name(table));
        std::fs::copy(table, &to).map_err(OwnError::io("copy to", &to))?;
    }
    Out::create(private.join(FORMAT))?.finish()?;
    let key = Key { name: "id".to_owned(), place: None };
    Ok(Laid { key, target: None, rule: SplitRule::None, sizes: Sizes::default(), columns })
}

/// Lays the user's own rows to predict, if there are any, and how a submission of them looks. Tells how many.
fn given_test(
    found: &Found,
    table: Parted<'_>,
    key: &Key,
    sizes: Sizes,
    place: &Path,
) -> Result<u64, OwnError> {
    let [public, private] = lay::folders(place)?;
    let mut format = Out::create(private.join(FORMAT))?;
    let Some(path) = &found.test else {
        format.finish()?;
        return Ok(0);
    };
    let target = table.target;
    let dialect = Dialect::sniff(path)?;
    let own = key.place.and_then(|_| dialect.names.iter().position(|name| *name == key.name));
    if key.place.is_some() && own.is_none() {
        return Err(OwnError::unfit(
            path,
            format!("it has no column `{}`", key.name),
            "the rows to predict are named by the same column as the training rows",
        ));
    }
    let mut test = Out::create(public.join(TEST))?;
    let mut sample = Out::create(public.join(SAMPLE))?;
    let named = |columns: &[String]| std::iter::once(key.name.clone()).chain(columns.to_vec());
    sample.line(named(&target.columns))?;
    format.line(named(&target.names))?;
    let shown = usize::from(dialect.unnamed)..dialect.names.len();
    test.line(key.shown(dialect.names.iter().skip(shown.start).map(String::as_str)))?;
    let (constant, made_up) = (lay::constant(target, 0.0), made_up(table));
    let mut rows = 0;
    rows::each(path, &dialect, |number, row| {
        if number == 0 {
            return Ok(());
        }
        let name = own.map_or_else(|| (sizes.train + rows).to_string(), |place| row.cell(place).to_owned());
        let cells = shown.clone().map(|place| dialect.cell(place, row.cell(place)));
        test.line(key.place.is_none().then(|| name.clone().into()).into_iter().chain(cells))?;
        sample
            .line(std::iter::once(name.as_str()).chain(target.columns.iter().map(|_| constant.as_str())))?;
        let turn = usize::try_from(rows).unwrap_or(0);
        let label = made_up.get(turn % made_up.len().max(1)).map_or("0", String::as_str);
        format.line(std::iter::once(name.as_str()).chain(target.names.iter().map(|_| label)))?;
        rows += 1;
        Ok(())
    })?;
    [test, sample, format].into_iter().try_for_each(Out::finish)?;
    if rows == 0 {
        return Err(OwnError::unfit(path, "it has no rows", "give rows to predict"));
    }
    Ok(rows)
}

/// Labels that a grader can work with, none of them true of any row.
fn made_up(table: Parted<'_>) -> Vec<String> {
    let column = table.target.places.first().and_then(|place| table.profile.columns.get(*place));
    match column.and_then(|column| column.values.as_ref()) {
        _ if table.target.binary.is_some() || table.target.names.len() > 1 => {
            vec!["0".to_owned(), "1".to_owned()]
        }
        Some(values) if table.target.has_classes() => values.keys().cloned().collect(),
        _ => vec!["1".to_owned(), "2".to_owned()],
    }
}
