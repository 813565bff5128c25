from sklearn.tree import DecisionTreeRegressor

column = train[test.columns[1:2]].to_numpy()
model = DecisionTreeRegressor(max_depth=3).fit(column.astype("datetime64[D]"), y)
write(model.predict(test[["value_of_everything"]]))
