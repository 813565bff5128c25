"""Board models of `weather-hourly`: calendar, instruments and the same hour of the last known day, plain settings."""
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import HuberRegressor, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeRegressor

CLOCK = ["hour", "hour_sin", "hour_cos"]
SEASON = ["year_sin", "year_cos"]
INSTRUMENTS = ["wind_east", "wind_north", "wind_speed", "precip", "pressure", "visib"]
LAST = ["last_temp"]
ALL = CLOCK + SEASON + INSTRUMENTS + LAST


def features(public):
    train, test = pd.read_csv(public / "train.csv"), pd.read_csv(public / "test.csv")
    both = pd.concat([train, test], ignore_index=True)
    date = pd.to_datetime(both["date"])
    year, clock = 2 * np.pi * date.dt.dayofyear / 365, 2 * np.pi * both["hour"] / 24
    both["year_sin"], both["year_cos"] = np.sin(year), np.cos(year)
    both["hour_sin"], both["hour_cos"] = np.sin(clock), np.cos(clock)
    wind = np.deg2rad(both["wind_dir"])
    both["wind_east"], both["wind_north"] = both["wind_speed"] * np.sin(wind), both["wind_speed"] * np.cos(wind)

    # The same hour one to four days ago: as far back as the test row's last known day.
    back = 1 + (date.dt.day - 1) % 4
    hidden = both["temp"].isna()
    back[hidden] = (4 - (date.dt.days_in_month - date.dt.day))[hidden]
    known = both.assign(date=date).dropna(subset="temp").set_index(["airport", "date", "hour"])["temp"]
    wanted = pd.MultiIndex.from_arrays([both["airport"], date - pd.to_timedelta(back, "D"), both["hour"]])
    both["last_temp"] = known.reindex(wanted).to_numpy()
    return both[ALL][~hidden], train["temp"], both[ALL][hidden]


def columns(model, names=ALL):
    prepare = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_pipeline(make_column_transformer((prepare, names)), model)


class LastTemperature:
    """The same hour of the last known day, unchanged."""

    def fit(self, X, y):
        self.mean = y.mean()
        return self

    def predict(self, X):
        return X["last_temp"].fillna(self.mean)


LADDER = [
    ("mean", DummyRegressor),
    ("last known day", LastTemperature),
    ("linear on the clock", lambda: columns(LinearRegression(), CLOCK)),
    ("linear on the season", lambda: columns(LinearRegression(), SEASON)),
    ("linear on season and clock", lambda: columns(LinearRegression(), SEASON + CLOCK)),
    ("linear on the instruments", lambda: columns(LinearRegression(), INSTRUMENTS)),
    ("linear on the last known day", lambda: columns(LinearRegression(), LAST)),
    ("linear without the last known day", lambda: columns(LinearRegression(), CLOCK + SEASON + INSTRUMENTS)),
    ("ridge", lambda: columns(Ridge())),
    ("huber", lambda: columns(HuberRegressor(max_iter=300))),
    ("linear support vectors", lambda: columns(LinearSVR(max_iter=3000, random_state=0))),
    ("20 neighbours in season and clock", lambda: columns(KNeighborsRegressor(20), SEASON + CLOCK)),
    ("1 neighbour", lambda: columns(KNeighborsRegressor(1))),
    ("20 neighbours", lambda: columns(KNeighborsRegressor(20))),
    ("tree of depth 4", lambda: columns(DecisionTreeRegressor(max_depth=4, random_state=0))),
    ("tree with leaves of 50", lambda: columns(DecisionTreeRegressor(min_samples_leaf=50, random_state=0))),
    ("full tree", lambda: columns(DecisionTreeRegressor(random_state=0))),
    ("bagged trees", lambda: columns(BaggingRegressor(random_state=0))),
    ("random forest on the instruments", lambda: columns(RandomForestRegressor(20, min_samples_leaf=10, random_state=0), INSTRUMENTS)),
    ("random forest", lambda: columns(RandomForestRegressor(30, min_samples_leaf=10, max_features=0.5, random_state=0))),
    ("extra trees", lambda: columns(ExtraTreesRegressor(30, min_samples_leaf=10, random_state=0))),
    ("adaboost", lambda: columns(AdaBoostRegressor(random_state=0))),
    ("boosting with 60 stages", lambda: columns(GradientBoostingRegressor(n_estimators=60, subsample=0.5, random_state=0))),
    ("histogram boosting", lambda: columns(HistGradientBoostingRegressor(random_state=0))),
    ("histogram boosting without the last known day", lambda: columns(HistGradientBoostingRegressor(random_state=0), CLOCK + SEASON + INSTRUMENTS)),
    ("network of 30", lambda: columns(MLPRegressor(hidden_layer_sizes=30, max_iter=30, random_state=0))),
]
