//! The nearest right name for a wrong one, as every "unknown ..." error tells it.

/// The candidate that looks most like `name`, if one looks like it at all. Of equals, the first in byte order.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|left, right| left.0.total_cmp(&right.0).then_with(|| right.1.cmp(left.1)))
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_but_not_anything() {
        assert_eq!(nearest("Segmnt", ["digits", "segment"]).as_deref(), Some("segment"));
        assert_eq!(nearest("zzz", ["digits", "segment"]), None);
    }
}
