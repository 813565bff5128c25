//! What the herbarium and species competitions share: pairs of annotation and image, grouped by category and parted
//! category by category.

use std::collections::HashMap;

use crate::prepare::error::{PrepareError, demand};
use crate::prepare::json::Json;
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

/// An annotation and its image.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) annotation: Json,
    pub(crate) image: Json,
}

/// How a category with few pairs is parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Few {
    /// One pair is train; of two to four the last one is test.
    LastIsTest,
    /// Like any other.
    Alike,
}

/// The two parts of every category, in the order in which the categories first come.
pub(crate) struct Parted {
    pub(crate) train: Vec<Vec<Pair>>,
    pub(crate) test: Vec<Pair>,
}

/// A member of a document, which must be there.
pub(crate) fn member<'a>(value: &'a Json, key: &str) -> Result<&'a Json, PrepareError> {
    value.get(key).ok_or_else(|| PrepareError::unfit(format!("the document has no `{key}`")))
}

/// A member that is a text, or its text.
pub(crate) fn label(value: &Json, key: &str) -> Result<String, PrepareError> {
    member(value, key).map(Json::label)
}

/// Takes the pairs out of a document and parts them.
pub(crate) fn parted(document: &mut Json, share: f64, few: Few) -> Result<Parted, PrepareError> {
    let mut take = |key: &str| match document.get(key) {
        Some(Json::List(_)) => {
            // The place of the key is kept for the list that comes back.
            let items = std::mem::replace(member_mut(document, key)?, Json::Null);
            if let Json::List(items) = items { Ok(items) } else { Ok(Vec::new()) }
        }
        _ => Err(PrepareError::unfit(format!("the document has no list `{key}`"))),
    };
    let (annotations, images) = (take("annotations")?, take("images")?);
    demand(annotations.len() == images.len(), || "annotations and images are not as many".to_owned())?;
    let mut categories: Vec<Vec<Pair>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (annotation, image) in annotations.into_iter().zip(images) {
        let same =
            label(&annotation, "image_id")? == label(&image, "id").or_else(|_| label(&image, "image_id"))?;
        demand(same, || "annotations and images are not in one order".to_owned())?;
        let place = *known.entry(label(&annotation, "category_id")?).or_insert_with(|| {
            categories.push(Vec::new());
            categories.len() - 1
        });
        if let Some(category) = categories.get_mut(place) {
            category.push(Pair { annotation, image });
        }
    }
    let mut parted = Parted { train: Vec::new(), test: Vec::new() };
    for mut category in categories {
        match (few, category.len()) {
            (Few::LastIsTest, 1) => {}
            (Few::LastIsTest, 2..=4) => parted.test.extend(category.pop()),
            _ => {
                let parts = train_test_split(rows(&category), Size::Test(share), 0);
                parted.test.extend(at(&category, &parts.test));
                category = at(&category, &parts.train);
            }
        }
        parted.train.push(category);
    }
    Ok(parted)
}

/// A member of a document that is to be changed.
pub(crate) fn member_mut<'a>(value: &'a mut Json, key: &str) -> Result<&'a mut Json, PrepareError> {
    let missing = || PrepareError::unfit(format!("the document has no `{key}`"));
    let Json::Object(members) = value else { return Err(missing()) };
    members
        .iter_mut()
        .find(|(known, _)| **known == *key.as_bytes())
        .map(|(_, value)| value)
        .ok_or_else(missing)
}

/// The annotations and the images of pairs.
pub(crate) fn unzipped(pairs: impl IntoIterator<Item = Pair>) -> (Json, Json) {
    let (annotations, images) = pairs.into_iter().map(|pair| (pair.annotation, pair.image)).unzip();
    (Json::List(annotations), Json::List(images))
}
