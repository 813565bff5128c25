//! Preparations that are more than a few declared steps, one file each, by the names that the catalog uses. Each does what
//! the official one does, in its order, and refuses data that the official one refuses where that protects the result.

mod autonomous_vehicles;
mod billion_words;
mod birds;
mod breast_cancer;
mod cassava;
mod categories;
mod cdiscount;
mod cervical_spine;
mod chest_xray;
mod contrails;
mod covid_detection;
mod covid_vaccine;
mod dirty_documents;
mod dogs_vs_cats;
mod essay_scoring;
mod fashion;
mod freesound;
mod gestures;
mod gi_tract;
mod google_quest;
mod harmful_brain;
mod herbarium;
mod histopathologic;
mod icebergs;
mod inaturalist;
mod kidneys;
mod kuzushiji;
mod melanoma;
mod neutrinos;
mod notebooks;
mod npy;
mod petfinder;
mod phonemes;
mod pizza;
mod plant_seedlings;
mod pulmonary_fibrosis;
mod questions;
mod records;
mod right_whales;
mod scalar_coupling;
mod smartphone_decimeter;
mod speech_commands;
mod steganalysis;
mod text_normalization;
mod ventilator;
mod vesuvius;
mod whale_categorization;
mod wildcam_2019;
mod wildcam_2020;

use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;

type Native = fn(&Workbench<'_>) -> Result<(), PrepareError>;

/// All of them.
const NATIVE: &[(&str, Native)] = &[
    ("3d-object-detection-for-autonomous-vehicles", autonomous_vehicles::run),
    ("AI4Code", notebooks::run),
    ("alaska2-image-steganalysis", steganalysis::run),
    ("billion-word-imputation", billion_words::run),
    ("cassava-leaf-disease-classification", cassava::run),
    ("cdiscount-image-classification-challenge", cdiscount::run),
    ("champs-scalar-coupling", scalar_coupling::run),
    ("denoising-dirty-documents", dirty_documents::run),
    ("dogs-vs-cats-redux-kernels-edition", dogs_vs_cats::run),
    ("freesound-audio-tagging-2019", freesound::run),
    ("google-quest-challenge", google_quest::run),
    ("google-research-identify-contrails-reduce-global-warming", contrails::run),
    ("h-and-m-personalized-fashion-recommendations", fashion::run),
    ("herbarium-2020-fgvc7", herbarium::run_2020),
    ("herbarium-2021-fgvc8", herbarium::run_2021),
    ("herbarium-2022-fgvc9", herbarium::run_2022),
    ("histopathologic-cancer-detection", histopathologic::run),
    ("hms-harmful-brain-activity-classification", harmful_brain::run),
    ("hubmap-kidney-segmentation", kidneys::run),
    ("icecube-neutrinos-in-deep-ice", neutrinos::run),
    ("inaturalist-2019-fgvc6", inaturalist::run),
    ("iwildcam-2019-fgvc6", wildcam_2019::run),
    ("iwildcam-2020-fgvc7", wildcam_2020::run),
    ("kuzushiji-recognition", kuzushiji::run),
    ("learning-agency-lab-automated-essay-scoring-2", essay_scoring::run),
    ("ml2021spring-hw2", phonemes::run),
    ("mlsp-2013-birds", birds::run),
    ("multi-modal-gesture-recognition", gestures::run),
    ("osic-pulmonary-fibrosis-progression", pulmonary_fibrosis::run),
    ("petfinder-pawpularity-score", petfinder::run),
    ("plant-seedlings-classification", plant_seedlings::run),
    ("random-acts-of-pizza", pizza::run),
    ("rsna-2022-cervical-spine-fracture-detection", cervical_spine::run),
    ("rsna-breast-cancer-detection", breast_cancer::run),
    ("siim-covid19-detection", covid_detection::run),
    ("siim-isic-melanoma-classification", melanoma::run),
    ("smartphone-decimeter-2022", smartphone_decimeter::run),
    ("stanford-covid-vaccine", covid_vaccine::run),
    ("statoil-iceberg-classifier-challenge", icebergs::run),
    ("tensorflow-speech-recognition-challenge", speech_commands::run),
    ("tensorflow2-question-answering", questions::run),
    ("text-normalization-challenge-english-language", text_normalization::run_english),
    ("text-normalization-challenge-russian-language", text_normalization::run_russian),
    ("the-icml-2013-whale-challenge-right-whale-redux", right_whales::run),
    ("uw-madison-gi-tract-image-segmentation", gi_tract::run),
    ("ventilator-pressure-prediction", ventilator::run),
    ("vesuvius-challenge-ink-detection", vesuvius::run),
    ("vinbigdata-chest-xray-abnormalities-detection", chest_xray::run),
    ("whale-categorization-playground", whale_categorization::run),
];

/// Runs one.
pub(crate) fn run(name: &str, bench: &Workbench<'_>) -> Result<(), PrepareError> {
    match NATIVE.iter().find(|(known, _)| *known == name) {
        Some((_, native)) => native(bench),
        None => Err(PrepareError::UnknownPreparation { name: name.to_owned() }),
    }
}
