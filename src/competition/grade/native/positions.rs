//! Directions of particles and places of phones.

use podium_metric as metric;
use podium_metric::{Angles, Direction3, EARTH_RADIUS, Place};

use crate::csv::{Cell, Column, Table};
use crate::grade::align::{Known, column, same_row_count, truth_column};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{misfit, only_columns, pair_sets, row_name};
use crate::grade::reason::quote;
use crate::parallel::map_rows;

/// Mean angle between directions: `icecube-neutrinos-in-deep-ice`. The predicted columns are azimuth and zenith.
pub(crate) fn angular_error(input: &Input<'_>) -> Result<Score, Fault> {
    only_columns(input)?;
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    let ([key], [azimuth, zenith]) = (format.id.as_slice(), format.columns.as_slice()) else {
        return Err(Fault::answers("the grader takes a key, an azimuth and a zenith"));
    };
    let guess = [finite(submission, key, azimuth)?, finite(submission, key, zenith)?];
    let truth = [truth_column(answers, azimuth)?, truth_column(answers, zenith)?];
    let fit = |column: &&Column| is_numbers(column) && column.cells().all(|cell| is_finite(&cell));
    if !truth.iter().all(fit) {
        return Err(Fault::answers("an angle is no finite number"));
    }
    same_row_count(submission, answers)?;
    let pairing = pair_sets(submission, answers, key)?;
    let direction = |[azimuth, zenith]: [&Column; 2], row: usize| Direction3 {
        azimuth: azimuth.cell(row).number().unwrap_or(f64::NAN),
        zenith: zenith.cell(row).number().unwrap_or(f64::NAN),
    };
    let angles = map_rows(pairing.answers.len(), |range| {
        let angle = |(row, answer)| metric::angle_between(direction(truth, answer), direction(guess, row));
        Ok::<Vec<f64>, Fault>(pairing.part(range).map(angle).collect())
    })?;
    Ok(Score::numpy(metric::mean(&angles)).noting(pairing.repeats))
}

/// Whether a column has a type of numbers; booleans are none here.
const fn is_numbers(column: &Column) -> bool {
    matches!(column, Column::Integer(_) | Column::Unsigned(_) | Column::Float(_))
}

fn is_finite(cell: &Cell<'_>) -> bool {
    cell.number().is_some_and(f64::is_finite)
}

/// A column of finite numbers.
fn finite<'a>(submission: &'a Table, key: &str, name: &str) -> Result<&'a Column, Fault> {
    let (keys, found) = (column(submission, key)?, column(submission, name)?);
    let good = |cell: &Cell<'_>| is_numbers(found) && is_finite(cell);
    // In a column that holds text, the first text is what made it one.
    let bad =
        |(_, cell): &(usize, Cell<'_>)| if is_numbers(found) { !good(cell) } else { cell.number().is_none() };
    if let Some((row, _)) = found.cells().enumerate().find(bad) {
        return Err(Fault::Submission(misfit(
            name,
            found,
            &row_name(key, keys, row),
            row,
            "a finite number",
        )));
    }
    if !is_numbers(found) && !found.is_empty() {
        return Err(Fault::Submission(format!("column {} holds no numbers", quote(name))));
    }
    Ok(found)
}

/// Mean over trips of the mean of the 50 % and 95 % quantiles of the distance in metres: `smartphone-decimeter-2022`.
/// The key columns are trip and time, the predicted ones latitude and longitude in degrees.
pub(crate) fn trip_distance(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    let ([trip, time], [latitude, longitude]) = (format.id.as_slice(), format.columns.as_slice()) else {
        return Err(Fault::answers("the grader takes a trip, a time, a latitude and a longitude"));
    };
    let trips = column(submission, trip)?;
    let times = (column(submission, time)?, truth_column(answers, time)?);
    let guess = [column(submission, latitude)?, column(submission, longitude)?];
    let true_trips = truth_column(answers, trip)?;
    let truth = [truth_column(answers, latitude)?, truth_column(answers, longitude)?];
    same_row_count(submission, answers)?;
    if !truth.iter().all(|column| is_numbers(column)) {
        return Err(Fault::answers("a coordinate is no number"));
    }
    for (name, column) in [latitude, longitude].into_iter().zip(guess) {
        let text = |cell: Cell<'_>| cell != Cell::Missing && cell.number().is_none();
        if let Some(row) = column.cells().position(text) {
            return Err(Fault::Submission(misfit(
                name,
                column,
                &row_name(trip, trips, row),
                row,
                "a number",
            )));
        }
        if !column.is_numeric() {
            return Err(Fault::Submission(format!("column {} holds no numbers", quote(name))));
        }
    }
    let known = Known::of(true_trips);
    let (guessed, expected) = (rows_by_trip(trips, &known), rows_by_trip(true_trips, &known));
    let (mut scores, mut late) = (Vec::with_capacity(known.len()), 0u64);
    for (rows, true_rows) in guessed.iter().zip(&expected) {
        if rows.len() != true_rows.len() {
            return Err(Fault::Submission(uneven(trip, true_trips, true_rows, rows.len())));
        }
        let pairs = || rows.iter().zip(true_rows);
        late += pairs().filter(|(row, answer)| times.0.cell(**row) != times.1.cell(**answer)).count() as u64;
        let distances: Vec<f64> = pairs()
            .map(|(row, answer)| metric::haversine(angles(truth, *answer), angles(guess, *row), EARTH_RADIUS))
            .collect();
        scores.push(f64::midpoint(metric::quantile(&distances, 0.5), metric::quantile(&distances, 0.95)));
    }
    if true_trips.cells().any(|cell| cell == Cell::Missing) {
        return Err(Fault::answers("a row has no trip"));
    }
    let mut score = Score::numpy(metric::mean(&scores));
    if late > 0 {
        score = score.note(format!(
            "rows are paired in file order within a trip: in {late} of them the time is not that of the paired row"
        ));
    }
    if guess.iter().any(|column| matches!(column, Column::Boolean(_))) {
        score = score.note(
            "a column of True and False counts as degrees of 1 and 0, with the four digits of NumPy's half precision",
        );
    }
    Ok(score)
}

/// A place in radians. NumPy turns booleans into angles of half precision, and takes cosines of them in it.
fn angles([latitude, longitude]: [&Column; 2], row: usize) -> Angles {
    /// One degree in half precision: 1.119140625 · 2⁻⁶ radians, whose cosine rounds to 1.
    const DEGREE: f64 = 0.017_456_054_687_5;
    let degrees = |column: &Column| column.cell(row).number().unwrap_or(f64::NAN);
    let mut angles: Angles = Place { latitude: degrees(latitude), longitude: degrees(longitude) }.into();
    if let Column::Boolean(_) = latitude {
        (angles.latitude, angles.cosine) = (degrees(latitude) * DEGREE, 1.0);
    }
    if let Column::Boolean(_) = longitude {
        angles.longitude = degrees(longitude) * DEGREE;
    }
    angles
}

/// Rows of each known trip in file order.
fn rows_by_trip(trips: &Column, known: &Known<'_>) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); known.len()];
    for (row, cell) in trips.cells().enumerate() {
        if let Some(rows) = known.code(cell).and_then(|code| rows.get_mut(code)) {
            rows.push(row);
        }
    }
    rows
}

fn uneven(name: &str, trips: &Column, rows: &[usize], found: usize) -> String {
    let trip = rows.first().map(|row| trips.cell(*row).to_string()).unwrap_or_default();
    format!("{} {} has {found} rows, expected {}", quote(name), quote(&trip), rows.len())
}
