//! h-and-m-personalized-fashion-recommendations: the last eight days of purchases are test, one row a customer.

use std::collections::BTreeMap;

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;

const COLUMNS: [&str; 5] = ["t_dat", "customer_id", "article_id", "price", "sales_channel_id"];

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
    bench.write("public/transactions_train.csv", &part(false).keep(&COLUMNS)?)?;
    let test = part(true);
    let mut bought: BTreeMap<String, String> = BTreeMap::new();
    for (customer, article) in
        test.column("customer_id")?.texts().into_iter().zip(test.column("article_id")?.texts())
    {
        let list = bought.entry(customer).or_default();
        if !list.is_empty() {
            list.push(' ');
        }
        list.push_str(&article);
    }
    let answers =
        Frame::default().with_texts("customer_id", bought.keys()).with_texts("prediction", bought.values());
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
