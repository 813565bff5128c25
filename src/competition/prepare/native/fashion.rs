//! h-and-m-personalized-fashion-recommendations: the last eight days of purchases are test, one row a customer.

use crate::csv::Cell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("transactions_train.csv")?;
    let days = frame
        .column("t_dat")?
        .texts()
        .iter()
        .map(|date| day_number(date).ok_or_else(|| PrepareError::unfit(format!("`{date}` is no date"))))
        .collect::<Result<Vec<i64>, _>>()?;
    let first = days.iter().max().map_or(0, |last| last - 7);
    let part =
        |test: bool| frame.filter(|row| days.get(*row as usize).is_some_and(|day| (*day >= first) == test));
    bench.write("public/transactions_train.csv", &part(false))?;
    let test = part(true);
    let (customers, articles) = (test.column("customer_id")?, test.column("article_id")?.texts());
    // Customers in their order; a purchase of nobody is nobody's.
    let mut bought = test.groups("customer_id")?;
    bought.retain(|(_, rows)| rows.first().is_some_and(|row| !matches!(customers.cell(*row), Cell::Missing)));
    if customers.is_numeric() {
        let numbers: Vec<f64> = customers.numbers().map(Option::unwrap_or_default).collect();
        let number = |rows: &[u32]| {
            rows.first().and_then(|row| numbers.get(*row as usize)).copied().unwrap_or_default()
        };
        bought.sort_by(|a, b| number(&a.1).total_cmp(&number(&b.1)));
    } else {
        bought.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let lists = bought.iter().map(|(_, rows)| {
        let list: Vec<&str> =
            rows.iter().filter_map(|row| articles.get(*row as usize)).map(String::as_str).collect();
        list.join(" ")
    });
    let answers = Frame::default()
        .with_texts("customer_id", bought.iter().map(|(customer, _)| customer))
        .with_texts("prediction", lists);
    bench.write("private/answers.csv", &answers)?;
    for name in ["articles.csv", "customers.csv", "sample_submission.csv", "images"] {
        bench.copy(name, &format!("public/{name}"))?;
    }
    Ok(())
}

/// Days since an epoch of a date like 2020-09-22, by the civil calendar.
fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.get(..10)?.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let year = if month <= 2 { year - 1 } else { year };
    let shifted = (month + 9) % 12;
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    Some(year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year)
}
