//! Every grader against the verdicts of the official one: one test a competition, over all its cases.
//!
//! `benchmark/oracle/README.md` says what a case holds. A case passes when valid or invalid agrees, the score agrees
//! within the case's tolerance, the rounded score agrees exactly, and `validate` says what `grade` says.

pub(crate) mod cases;

macro_rules! oracle {
    ($($name:ident = $id:literal,)*) => {
        $(
            #[test]
            fn $name() {
                cases::check($id);
            }
        )*

        #[test]
        fn further_cases_agree() {
            cases::check_further();
        }

        #[test]
        fn every_competition_has_its_test() {
            cases::check_list(&[$($id),*]);
        }
    };
}

oracle! {
    lyft_3d_object_detection_for_autonomous_vehicles = "3d-object-detection-for-autonomous-vehicles",
    ai4code = "AI4Code",
    aerial_cactus_identification = "aerial-cactus-identification",
    alaska2_image_steganalysis = "alaska2-image-steganalysis",
    aptos2019_blindness_detection = "aptos2019-blindness-detection",
    billion_word_imputation = "billion-word-imputation",
    bms_molecular_translation = "bms-molecular-translation",
    cassava_leaf_disease_classification = "cassava-leaf-disease-classification",
    cdiscount_image_classification_challenge = "cdiscount-image-classification-challenge",
    chaii_hindi_and_tamil_question_answering = "chaii-hindi-and-tamil-question-answering",
    champs_scalar_coupling = "champs-scalar-coupling",
    denoising_dirty_documents = "denoising-dirty-documents",
    detecting_insults_in_social_commentary = "detecting-insults-in-social-commentary",
    dog_breed_identification = "dog-breed-identification",
    dogs_vs_cats_redux_kernels_edition = "dogs-vs-cats-redux-kernels-edition",
    facebook_recruiting_iii_keyword_extraction = "facebook-recruiting-iii-keyword-extraction",
    freesound_audio_tagging_2019 = "freesound-audio-tagging-2019",
    google_quest_challenge = "google-quest-challenge",
    google_research_identify_contrails_reduce_global_warming = "google-research-identify-contrails-reduce-global-warming",
    h_and_m_personalized_fashion_recommendations = "h-and-m-personalized-fashion-recommendations",
    herbarium_2020_fgvc7 = "herbarium-2020-fgvc7",
    herbarium_2021_fgvc8 = "herbarium-2021-fgvc8",
    herbarium_2022_fgvc9 = "herbarium-2022-fgvc9",
    histopathologic_cancer_detection = "histopathologic-cancer-detection",
    hms_harmful_brain_activity_classification = "hms-harmful-brain-activity-classification",
    hotel_id_2021_fgvc8 = "hotel-id-2021-fgvc8",
    hubmap_kidney_segmentation = "hubmap-kidney-segmentation",
    icecube_neutrinos_in_deep_ice = "icecube-neutrinos-in-deep-ice",
    imet_2020_fgvc7 = "imet-2020-fgvc7",
    inaturalist_2019_fgvc6 = "inaturalist-2019-fgvc6",
    invasive_species_monitoring = "invasive-species-monitoring",
    iwildcam_2019_fgvc6 = "iwildcam-2019-fgvc6",
    iwildcam_2020_fgvc7 = "iwildcam-2020-fgvc7",
    jigsaw_toxic_comment_classification_challenge = "jigsaw-toxic-comment-classification-challenge",
    jigsaw_unintended_bias_in_toxicity_classification = "jigsaw-unintended-bias-in-toxicity-classification",
    kuzushiji_recognition = "kuzushiji-recognition",
    leaf_classification = "leaf-classification",
    learning_agency_lab_automated_essay_scoring_2 = "learning-agency-lab-automated-essay-scoring-2",
    lmsys_chatbot_arena = "lmsys-chatbot-arena",
    ml2021spring_hw2 = "ml2021spring-hw2",
    mlsp_2013_birds = "mlsp-2013-birds",
    movie_review_sentiment_analysis_kernels_only = "movie-review-sentiment-analysis-kernels-only",
    multi_modal_gesture_recognition = "multi-modal-gesture-recognition",
    new_york_city_taxi_fare_prediction = "new-york-city-taxi-fare-prediction",
    nfl_player_contact_detection = "nfl-player-contact-detection",
    nomad2018_predict_transparent_conductors = "nomad2018-predict-transparent-conductors",
    osic_pulmonary_fibrosis_progression = "osic-pulmonary-fibrosis-progression",
    paddy_disease_classification = "paddy-disease-classification",
    petfinder_pawpularity_score = "petfinder-pawpularity-score",
    plant_pathology_2020_fgvc7 = "plant-pathology-2020-fgvc7",
    plant_pathology_2021_fgvc8 = "plant-pathology-2021-fgvc8",
    plant_seedlings_classification = "plant-seedlings-classification",
    playground_series_s3e18 = "playground-series-s3e18",
    predict_volcanic_eruptions_ingv_oe = "predict-volcanic-eruptions-ingv-oe",
    random_acts_of_pizza = "random-acts-of-pizza",
    ranzcr_clip_catheter_line_classification = "ranzcr-clip-catheter-line-classification",
    rsna_2022_cervical_spine_fracture_detection = "rsna-2022-cervical-spine-fracture-detection",
    rsna_breast_cancer_detection = "rsna-breast-cancer-detection",
    rsna_miccai_brain_tumor_radiogenomic_classification = "rsna-miccai-brain-tumor-radiogenomic-classification",
    seti_breakthrough_listen = "seti-breakthrough-listen",
    siim_covid19_detection = "siim-covid19-detection",
    siim_isic_melanoma_classification = "siim-isic-melanoma-classification",
    smartphone_decimeter_2022 = "smartphone-decimeter-2022",
    spaceship_titanic = "spaceship-titanic",
    spooky_author_identification = "spooky-author-identification",
    stanford_covid_vaccine = "stanford-covid-vaccine",
    statoil_iceberg_classifier_challenge = "statoil-iceberg-classifier-challenge",
    tabular_playground_series_dec_2021 = "tabular-playground-series-dec-2021",
    tabular_playground_series_may_2022 = "tabular-playground-series-may-2022",
    tensorflow_speech_recognition_challenge = "tensorflow-speech-recognition-challenge",
    tensorflow2_question_answering = "tensorflow2-question-answering",
    text_normalization_challenge_english_language = "text-normalization-challenge-english-language",
    text_normalization_challenge_russian_language = "text-normalization-challenge-russian-language",
    tgs_salt_identification_challenge = "tgs-salt-identification-challenge",
    the_icml_2013_whale_challenge_right_whale_redux = "the-icml-2013-whale-challenge-right-whale-redux",
    tweet_sentiment_extraction = "tweet-sentiment-extraction",
    us_patent_phrase_to_phrase_matching = "us-patent-phrase-to-phrase-matching",
    uw_madison_gi_tract_image_segmentation = "uw-madison-gi-tract-image-segmentation",
    ventilator_pressure_prediction = "ventilator-pressure-prediction",
    vesuvius_challenge_ink_detection = "vesuvius-challenge-ink-detection",
    vinbigdata_chest_xray_abnormalities_detection = "vinbigdata-chest-xray-abnormalities-detection",
    whale_categorization_playground = "whale-categorization-playground",
}
