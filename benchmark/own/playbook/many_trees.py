from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

kind = RandomForestClassifier if labels or METRIC == "mean_column_auc" else RandomForestRegressor
solve(lambda: make_pipeline(SimpleImputer(strategy="median"), kind(200, min_samples_leaf=2, random_state=SEED)))
